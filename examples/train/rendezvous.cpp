#include "rendezvous.hpp"

namespace bird::trainer {

command rendezvous::arrive_and_wait()
{
  std::unique_lock lock{mutex_};
  if (next_ == command::stop) {
    return command::stop;
  }
  std::uint64_t const mine = generation_;
  if (++arrived_ == workers_) {
    all_arrived_.notify_one();
  }
  released_.wait(lock, [&] { return generation_ != mine; });
  return next_;
}

void rendezvous::fail(std::exception_ptr error)
{
  std::lock_guard const lock{mutex_};
  error_ = error_ ? error_ : error;
  all_arrived_.notify_one();
}

void rendezvous::wait_for_workers()
{
  std::unique_lock lock{mutex_};
  all_arrived_.wait(lock, [&] { return error_ || arrived_ == workers_; });
  if (error_) {
    std::rethrow_exception(error_);
  }
}

void rendezvous::release(command next)
{
  {
    std::lock_guard const lock{mutex_};
    arrived_ = 0;
    next_    = next;
    ++generation_;
  }
  released_.notify_all();
}

}  // namespace bird::trainer
