#include "batch.hpp"

#include <algorithm>
#include <csignal>

#include "traffic.hpp"

namespace loopback {
namespace {

constexpr int sleep_ms       = 50;  // a dead peer rings no bell
constexpr int short_sleep_ms = 2;   // while a delay is simulated

}  // namespace

void require_alive(communicator& comm, int rank, call_record const& waiting)
{
  shared_rank const& other = comm.world->rank(rank);
  if (other.state == presence::present) {
    return;
  }
  std::string message = "operation " + std::to_string(waiting.number) + ", " + text_of(waiting) + ": rank " +
                        std::to_string(rank) + " " + text_of(other.state);
  if (other.reason[0] != '\0') {
    message += std::string(" (") + other.reason + ")";
  }
  if (other.call.number != 0) {
    message += "; its last was operation " + std::to_string(other.call.number) + ", " + text_of(other.call);
  }
  throw failure(ncclRemoteError, message);
}

batch::batch(communicator_ref comm, std::vector<operation> operations)
  : comm_(std::move(comm)), operations_(std::move(operations))
{
  std::stable_partition(operations_.begin(), operations_.end(),
                        [](operation const& op) { return op.is_collective(); });
  comm_->begin_operation();
}

batch::~batch()
{
  if (!ended_) {
    comm_->end_operation();  // its stream is gone
  }
}

cudaStream_t batch::stream() const
{
  for (operation const& op : operations_) {
    if (op.stream != nullptr) {
      return op.stream;
    }
  }
  return nullptr;
}

void batch::end()
{
  current_.reset();
  ended_ = true;
  comm_->end_operation();
  if (comm_->world) {
    comm_->world->ring();
  }
}

bool batch::advance()
{
  if (ended_) {
    return true;
  }
  try {
    if (!step()) {
      return false;
    }
  } catch (failure const& error) {
    comm_->fail(error.code, error.what());
    comm_->world->set_state(comm_->rank, presence::failed, error.what());
  }
  end();
  return true;
}

bool batch::step()
{
  if (comm_->aborted) {
    throw failure(ncclInternalError, "the communicator was aborted");
  }
  if (comm_->revoked) {
    return true;
  }
  if (comm_->error() != ncclSuccess) {
    return true;  // an earlier operation failed; those behind it do nothing
  }
  comm_->world->look_for_dead();
  while (true) {
    if (!current_ && !begin_next()) {
      return next_ == operations_.size() && !stalled_;
    }
    if (steady::now() < not_before_) {
      return false;
    }
    if (!current_->advance()) {
      check_time();
      return false;
    }
    current_.reset();
  }
}

bool batch::begin_next()
{
  if (stalled_ || next_ == operations_.size()) {
    return false;
  }
  auto const first = operations_.begin() + static_cast<std::ptrdiff_t>(next_);
  auto const last  = first->is_collective() ? first + 1 : operations_.end();
  std::vector<operation> const ops(first, last);
  std::vector<faults::fate> fates;
  for (operation const& op : ops) {
    faults::fate const fate = faults::of(comm_->rank, op.call.number);
    if (fate.kill) {
      std::raise(SIGKILL);
    }
    if (fate.die) {
      comm_->world->set_state(comm_->rank, presence::dead, "by plan");
      comm_->fail(ncclSystemError, "this rank died by plan");
      throw failure(ncclSystemError, "this rank died by plan");
    }
    if (fate.async != ncclSuccess) {
      throw failure(fate.async, "a planned error at operation " + std::to_string(op.call.number));
    }
    if (fate.stall) {
      stalled_ = true;
      return false;
    }
    not_before_ = std::max(not_before_, steady::now() + std::chrono::milliseconds(fate.delay_ms));
    fates.push_back(fate);
  }
  next_ = static_cast<std::size_t>(last - operations_.begin());
  for (operation const& op : ops) {
    comm_->sent->add(op);
  }
  {
    segment::lock const guard(*comm_->world);
    comm_->world->rank(comm_->rank).call = ops.front().call;
  }
  current_ = ops.front().is_collective() ? make_collective(*comm_, ops.front(), fates.front())
                                         : make_transfers(*comm_, ops, fates);
  begun_   = false;
  return true;
}

void batch::check_time()
{
  if (!begun_ || current_->steps != steps_seen_) {
    begun_      = true;
    steps_seen_ = current_->steps;
    last_step_  = steady::now();
  } else if (steady::now() - last_step_ > deadline()) {
    throw failure(ncclSystemError, current_->text() + ", for more than " +
                                     std::to_string(deadline().count()) + " ms; a deadlock?");
  }
}

void batch::run()
{
  while (true) {
    std::uint32_t const seen = comm_->world->bell();
    if (advance()) {
      return;
    }
    comm_->world->wait(seen, steady::now() < not_before_ ? short_sleep_ms : sleep_ms);
  }
}

}  // namespace loopback
