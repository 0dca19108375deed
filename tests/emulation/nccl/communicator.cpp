#include "communicator.hpp"

#include <unordered_map>

#include "faults.hpp"

namespace loopback {
namespace {

// How a made operator's number is composed, above NCCL's own: its index, the communicator.
constexpr int most_operators = 256;
constexpr int most_salts     = 1 << 16;

struct handles {
  std::mutex mutex;
  std::unordered_map<ncclComm_t, communicator_ref> live;
  std::vector<ncclComm_t> free;
  std::string last_error;
};
handles& all_handles()
{
  static handles& all = *new handles;  // used until the last thread ends
  return all;
}

}  // namespace

communicator::~communicator()
{
  if (ready) {
    world->set_state(rank, presence::aborted, "its handle was never given out");
  }
  if (scratch != nullptr) {
    ncclMemFree(scratch);
  }
}

void communicator::launch_late()
{
  std::vector<std::function<void()>> late;
  {
    std::lock_guard const guard(mutex_);
    polls_left_ = 0;
    late.swap(late_);
  }
  for (auto const& launch : late) {
    launch();
  }
}
void communicator::forget_late()
{
  std::vector<std::function<void()>> late;  // destroyed without the lock
  std::lock_guard const guard(mutex_);
  late.swap(late_);
}

void communicator::fail(ncclResult_t code, std::string const& message)
{
  std::lock_guard const guard(mutex_);
  if (error_ == ncclSuccess) {
    error_      = code;
    last_error_ = message;
    note_error(message);
  }
}
ncclResult_t communicator::error() const
{
  std::lock_guard const guard(mutex_);
  return error_;
}
std::string communicator::last_error() const
{
  std::lock_guard const guard(mutex_);
  return last_error_;
}

bool communicator::begin_polls(std::function<void()> late)
{
  int const polls = blocking ? 0 : faults::polls();
  if (polls == 0) {
    return false;
  }
  std::lock_guard const guard(mutex_);
  polls_left_ = polls;
  late_.push_back(std::move(late));
  return true;
}

ncclResult_t communicator::poll()
{
  {
    std::lock_guard const guard(mutex_);
    if (error_ != ncclSuccess) {
      return error_;
    }
    if (!ready) {
      return ncclInProgress;
    }
    if (polls_left_ > 0) {
      --polls_left_;
      return ncclInProgress;
    }
  }
  launch_late();
  return error();
}

void communicator::require_usable() const
{
  std::lock_guard const guard(mutex_);
  if (error_ != ncclSuccess) {
    throw failure(error_, last_error_);
  }
  if (revoked) {
    throw failure(ncclInvalidUsage, "the communicator has been revoked");
  }
  if (finalized) {
    throw failure(ncclInvalidUsage, "the communicator has been finalized");
  }
  if (!ready || polls_left_ > 0 || !late_.empty()) {
    throw failure(ncclInvalidArgument, "the communicator is still in progress");
  }
}

void communicator::begin_operation()
{
  std::lock_guard const guard(mutex_);
  ++running_;
}
void communicator::end_operation()
{
  {
    std::lock_guard const guard(mutex_);
    --running_;
  }
  ended_.notify_all();
}
void communicator::wait_for_operations()
{
  std::unique_lock guard(mutex_);
  // Each of them gives up by itself; so this only bounds a long queue that moves.
  ended_.wait(guard, [&] { return running_ == 0; });
}

int communicator::next_salt()
{
  static std::atomic<int> salts{0};
  return salts++ % most_salts;
}

ncclRedOp_t communicator::add_operator(ncclDataType_t type, scaling const& scale)
{
  std::lock_guard const guard(mutex_);
  if (operators_.size() == most_operators) {
    throw failure(ncclInternalError, "a communicator of the loopback holds 256 operators");
  }
  while (operators_.count(operators_made_ % most_operators) != 0) {
    ++operators_made_;
  }
  int const index   = operators_made_++ % most_operators;
  operators_[index] = {type, scale};
  return static_cast<ncclRedOp_t>(ncclNumOps + salt_ * most_operators + index);
}

void communicator::remove_operator(ncclRedOp_t op)
{
  std::lock_guard const guard(mutex_);
  int const made = static_cast<int>(op) - ncclNumOps;
  if (made < 0 || made / most_operators != salt_ || operators_.erase(made % most_operators) == 0) {
    throw failure(ncclInvalidArgument, "ncclRedOpDestroy: the communicator has no operator " +
                                         std::to_string(static_cast<int>(op)));
  }
}

scaling communicator::find_operator(ncclRedOp_t op, ncclDataType_t type) const
{
  std::lock_guard const guard(mutex_);
  int const made = static_cast<int>(op) - ncclNumOps;
  auto const found =
    made >= 0 && made / most_operators == salt_ ? operators_.find(made % most_operators) : operators_.end();
  if (found == operators_.end()) {
    throw failure(ncclInvalidArgument,
                  "the communicator has no operator " + std::to_string(static_cast<int>(op)));
  }
  if (found->second.type != type) {
    throw failure(ncclInvalidArgument, std::string("the operator is for ") +
                                         loopback::name_of(found->second.type) + ", not for " +
                                         loopback::name_of(type));
  }
  return found->second.scale;
}

void* communicator::add_registration()
{
  std::lock_guard const guard(mutex_);
  return registrations_.insert(std::make_unique<char>()).first->get();
}

void communicator::remove_registration(void* handle)
{
  std::lock_guard const guard(mutex_);
  for (auto it = registrations_.begin(); it != registrations_.end(); ++it) {
    if (it->get() == handle) {
      registrations_.erase(it);
      return;
    }
  }
  throw failure(ncclInvalidArgument, "the communicator has no such registration");
}

std::vector<void*> communicator::registrations() const
{
  std::lock_guard const guard(mutex_);
  std::vector<void*> all;
  for (auto const& one : registrations_) {
    all.push_back(one.get());
  }
  return all;
}

communicator_ref find(ncclComm_t handle)
{
  handles& all = all_handles();
  std::lock_guard const guard(all.mutex);
  if (handle == nullptr) {
    throw failure(ncclInvalidArgument, "the communicator is NULL");
  }
  auto const found = all.live.find(handle);
  if (found == all.live.end()) {
    throw failure(ncclInvalidArgument, "there is no such communicator, or it has been destroyed already");
  }
  return found->second;
}

ncclComm_t add_handle(communicator_ref comm)
{
  handles& all = all_handles();
  std::lock_guard const guard(all.mutex);
  if (all.free.empty()) {
    all.free.push_back(new ncclComm);  // kept for ever: a stale handle must stay recognisable
  }
  ncclComm_t const handle = all.free.back();
  all.free.pop_back();
  all.live[handle] = std::move(comm);
  return handle;
}

communicator_ref remove_handle(ncclComm_t handle)
{
  communicator_ref found = find(handle);
  handles& all           = all_handles();
  std::lock_guard const guard(all.mutex);
  if (all.live.erase(handle) == 0) {
    throw failure(ncclInvalidArgument, "the communicator is being destroyed by another thread");
  }
  all.free.push_back(handle);
  return found;
}

int live_handles()
{
  handles& all = all_handles();
  std::lock_guard const guard(all.mutex);
  return static_cast<int>(all.live.size());
}

void note_error(std::string const& message)
{
  handles& all = all_handles();
  std::lock_guard const guard(all.mutex);
  all.last_error = message;
}
std::string noted_error()
{
  handles& all = all_handles();
  std::lock_guard const guard(all.mutex);
  return all.last_error;
}

}  // namespace loopback
