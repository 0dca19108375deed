/// One rank of one communicator, and the handles by which programs know them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "operation.hpp"
#include "segment.hpp"

/// A handle is an address. The last one that was given back is the next to be given out, as a heap may do.
struct ncclComm {
  int unused = 0;
};

namespace loopback {

class batch;
class traffic;

class communicator {
 public:
  communicator() = default;
  ~communicator();
  communicator(communicator const&)            = delete;
  communicator& operator=(communicator const&) = delete;

  std::string name;
  bool blocking = true;
  int rank      = 0;
  int nranks    = 1;
  int device    = 0;
  std::string id;  ///< of the segment
  std::shared_ptr<traffic> sent;

  // How far it is. All above and `world` are set before `ready`.
  std::shared_ptr<segment> world;
  std::atomic<bool> ready{false};
  std::atomic<bool> aborted{false};
  std::atomic<bool> revoked{false};
  std::atomic<bool> finalized{false};

  /// The first asynchronous error stays.
  void fail(ncclResult_t code, std::string const& message);
  ncclResult_t error() const;
  std::string last_error() const;

  /// What GetAsyncError says; counts the polls that a plan of faults asks for, and launches what waits for
  /// them.
  ncclResult_t poll();
  /// Begins `polls` polls in progress, after which `late` is done. @returns whether there are any
  bool begin_polls(std::function<void()> late);
  /// Launches what waits for polls at once, or forgets it.
  void launch_late();
  void forget_late();
  /// @throws failure unless operations may be called now
  void require_usable() const;

  /// Operations that have been called and have not ended.
  void begin_operation();
  void end_operation();
  /// @throws failure when they make no progress
  void wait_for_operations();

  void* scratch                = nullptr;  ///< of ncclMemAlloc, as NCCL has buffers of its own
  std::uint64_t next_operation = 0;        ///< of the calling thread's; NCCL forbids two at once
  std::uint64_t children       = 0;        ///< splits and shrinks so far

  /// Operators made for this communicator.
  ncclRedOp_t add_operator(ncclDataType_t type, scaling const& scale);
  void remove_operator(ncclRedOp_t op);
  scaling find_operator(ncclRedOp_t op, ncclDataType_t type) const;

  void* add_registration();
  /// @throws failure for one that there is not
  void remove_registration(void* handle);
  std::vector<void*> registrations() const;

 private:
  struct made_operator {
    ncclDataType_t type;
    scaling scale;
  };
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  ncclResult_t error_ = ncclSuccess;
  std::string last_error_;
  int polls_left_ = 0;
  std::vector<std::function<void()>> late_;
  int running_ = 0;
  std::map<int, made_operator> operators_;
  std::set<std::unique_ptr<char>> registrations_;  ///< addresses serve as handles
  int operators_made_ = 0;
  int const salt_     = next_salt();
  static int next_salt();
};

using communicator_ref = std::shared_ptr<communicator>;

/// @throws failure for no handle, or one that was destroyed
communicator_ref find(ncclComm_t handle);
ncclComm_t add_handle(communicator_ref comm);
/// @throws failure as find()
communicator_ref remove_handle(ncclComm_t handle);
int live_handles();

/// The text of ncclGetLastError; of the communicator too if there is one.
void note_error(std::string const& message);
std::string noted_error();

/// What the caller's config asks for.
struct wishes {
  bool blocking = true;
  std::string name;
  static wishes from(ncclConfig_t const* config);
};

/// Which communicator, and which rank of it.
struct place {
  std::string id;
  int nranks = 0;  ///< 0: none
  int rank   = 0;
};
/// A communicator that has not joined yet, and how it does: in the calling thread, waits for the others.
/// Device -1: that of the thread, or the rank.
communicator_ref prepare(wishes const& wanted, int device);
void join(communicator& comm, place const& where);

/// Children. Split asks the other ranks; Shrink need not.
place split(communicator& parent, int color, int key);
place shrink(communicator& parent, std::set<int> const& excluded);

/// Ids as 128 bytes: a magic, random bytes, zeros, as NCCL's.
ncclUniqueId make_id();
/// @throws failure for bytes that make_id() did not make
std::string name_of(ncclUniqueId const& id);

int version();
void set_thread_device(int device);

}  // namespace loopback
