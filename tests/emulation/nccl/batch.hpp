/// What one group, or one call, gives one communicator to do: runs later, on a stream.
///
/// Collectives go one after the other; then all sends and receives at once. Everything is done in steps that
/// never wait, so that whoever runs it (a thread of its own, the emulated device) decides how to wait.
#pragma once

#include <memory>
#include <vector>

#include "communicator.hpp"
#include "faults.hpp"

namespace loopback {

/// What goes on in steps: one collective, or a set of sends and receives.
class activity {
 public:
  virtual ~activity() = default;
  /// Does what can be done now. @returns whether it has ended @throws failure
  virtual bool advance() = 0;
  /// What it is, and whom it waits for.
  virtual std::string text() const = 0;
  /// Counts steps, so that it can be seen whether it moves.
  std::uint64_t steps = 0;
};

std::unique_ptr<activity> make_collective(communicator& comm, operation const& op, faults::fate const& fate);
std::unique_ptr<activity> make_transfers(communicator& comm, std::vector<operation> const& ops,
                                         std::vector<faults::fate> const& fates);

class batch {
 public:
  batch(communicator_ref comm, std::vector<operation> operations);
  ~batch();
  batch(batch const&)            = delete;
  batch& operator=(batch const&) = delete;

  /// @returns whether it has ended, well or not; then the communicator has the error
  bool advance();
  bool ended() const { return ended_.load(); }
  /// Advances until it has ended, asleep in between.
  void run();
  communicator& comm() { return *comm_; }
  /// The first that is not NULL, if there is one.
  cudaStream_t stream() const;
  std::vector<operation> const& operations() const { return operations_; }

 private:
  bool step();
  bool begin_next();
  void check_time();
  void end();

  communicator_ref comm_;
  std::vector<operation> operations_;
  std::size_t next_ = 0;  ///< of the operations
  std::unique_ptr<activity> current_;
  bool stalled_ = false;
  bool begun_   = false;
  steady::time_point not_before_{};
  steady::time_point last_step_{};
  std::uint64_t steps_seen_ = 0;
  std::atomic<bool> ended_{false};
};

/// Whether all of the others can still do what is waited for.
/// @throws failure (ncclRemoteError) naming the rank that cannot; call it under the segment's lock
void require_alive(communicator& comm, int rank, call_record const& waiting);

}  // namespace loopback
