/// rendezvous: the two points of a round at which threads wait for each other.
///
///   workers  ── arrive ──▶ ........................ ──▶ go on with the next round
///   server   ............  ──▶ all are there: works ── release ──▶
///
/// Between a worker's arrival and its release the server may read and write what belongs to that worker;
/// at all other times it must not. No other lock is needed.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>

namespace bird::trainer {

/// What a released worker is to do.
enum class command {
  apply,    ///< the reply is an update: add it
  replace,  ///< the reply is a whole model: take it over
  stop,     ///< leave; there is no reply
};

class rendezvous {
 public:
  explicit rendezvous(int workers) : workers_{workers} {}

  /// Worker: says that its message is ready, and blocks until the server has dealt with it.
  command arrive_and_wait();
  /// Worker: leaves for good because of an error, which wait_for_workers() will throw.
  void fail(std::exception_ptr error);

  /// Server: blocks until every worker has arrived.
  void wait_for_workers();
  /// Server: lets all workers go on. After command::stop nobody waits here any more.
  void release(command next);

 private:
  int const workers_;
  std::mutex mutex_;
  std::condition_variable all_arrived_, released_;
  int arrived_              = 0;
  std::uint64_t generation_ = 0;  ///< number of releases
  command next_             = command::apply;
  std::exception_ptr error_;
};

}  // namespace bird::trainer
