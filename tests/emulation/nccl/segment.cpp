#include "segment.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>

#include "shared_memory.hpp"

namespace loopback {
namespace {

constexpr int look_every_ms = 50;

/// When the process began, in clock ticks since boot; 0: there is none, or it has ended and awaits its
/// parent.
std::uint64_t start_of(int pid)
{
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  std::size_t const end_of_name = line.rfind(')');  // the name may hold anything
  if (end_of_name == std::string::npos) {
    return 0;
  }
  std::istringstream fields(line.substr(end_of_name + 1));
  std::string field;
  fields >> field;
  if (field == "Z" || field == "X") {
    return 0;
  }
  for (int i = 0; i < 19; ++i) {  // the 22nd field of the line
    fields >> field;
  }
  return std::strtoull(field.c_str(), nullptr, 10);
}

struct opened {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<segment>> segments;
};
opened& in_this_process()
{
  static opened& all = *new opened;  // ranks may outlive main
  return all;
}

}  // namespace

char const* text_of(presence what)
{
  switch (what) {
    case presence::absent:
      return "has not joined";
    case presence::present:
      return "is present";
    case presence::left:
      return "has left";
    case presence::aborted:
      return "has aborted";
    case presence::revoked:
      return "has revoked the communicator";
    case presence::failed:
      return "has failed";
    case presence::dead:
      return "is dead";
  }
  return "";
}

std::chrono::milliseconds deadline()
{
  char const* const text = std::getenv("LOOPBACK_DEADLINE_MS");
  return std::chrono::milliseconds(text == nullptr ? 20000 : std::atoi(text));
}

segment::lock::lock(segment& of) : mutex_(of.header_->mutex)
{
  if (pthread_mutex_lock(&mutex_) == EOWNERDEAD) {
    // Each change under the mutex is a few stores that leave the state usable at any point.
    pthread_mutex_consistent(&mutex_);
  }
}
segment::lock::~lock() { pthread_mutex_unlock(&mutex_); }

segment::segment(std::string name, void* base, std::size_t bytes, int nranks)
  : name_(std::move(name)), base_(base), bytes_(bytes)
{
  layout const place(nranks);
  auto* const start = static_cast<std::byte*>(base);
  header_           = static_cast<shared_header*>(base);
  ranks_            = reinterpret_cast<shared_rank*>(start + place.ranks);
  channels_         = reinterpret_cast<shared_channel*>(start + place.channels);
  slots_            = start + place.slots;
  channel_slots_    = start + place.channel_slots;
  slot_bytes_       = place.slot;
  channel_bytes_    = place.channel;
}
segment::~segment() { munmap(base_, bytes_); }

std::shared_ptr<segment> segment::open(std::string const& name, int nranks, int version)
{
  opened& here = in_this_process();
  std::lock_guard const guard(here.mutex);
  std::weak_ptr<segment>& known = here.segments[name];
  if (auto live = known.lock()) {
    return live;
  }
  mapping const found = open_or_publish(name, nranks, version);
  int const there     = static_cast<shared_header*>(found.base)->nranks;
  std::shared_ptr<segment> made(new segment(name, found.base, found.bytes, there));
  known = made;
  for (auto it = here.segments.begin(); it != here.segments.end();) {
    it = it->second.expired() ? here.segments.erase(it) : std::next(it);
  }
  return made;
}

void segment::enter(int nranks, int rank, int version)
{
  lock const guard(*this);
  if (header_->nranks != nranks) {
    throw failure(ncclInvalidArgument, "rank " + std::to_string(rank) + " says " + std::to_string(nranks) +
                                         " ranks, an earlier one " + std::to_string(header_->nranks));
  }
  if (header_->version != version) {
    throw failure(ncclInvalidUsage, "rank " + std::to_string(rank) + " has NCCL version " +
                                      std::to_string(version) + ", an earlier one " +
                                      std::to_string(header_->version));
  }
  shared_rank& self = ranks_[rank];
  if (self.state != presence::absent) {
    throw failure(ncclInvalidUsage, "rank " + std::to_string(rank) + " joins a second time");
  }
  self.pid     = getpid();
  self.started = start_of(self.pid);
  self.state   = presence::present;
  if (++header_->joined == nranks) {
    shm_unlink(name_.c_str());
  }
}

void segment::wait_for_all(char const* what, std::function<bool(int)> const& arrived,
                           std::function<bool()> const& cancelled)
{
  auto const give_up = steady::now() + deadline();
  while (true) {
    std::uint32_t const seen = bell();
    if (cancelled()) {
      throw failure(ncclInternalError, std::string(what) + " was aborted");
    }
    look_for_dead();
    std::string missing;
    {
      lock const guard(*this);
      for (int r = 0; r < nranks(); ++r) {
        if (arrived(r)) {
          continue;
        }
        missing += " " + std::to_string(r);
        presence const state = ranks_[r].state;
        if (state == presence::dead || state == presence::aborted || state == presence::left) {
          throw failure(ncclRemoteError,
                        std::string(what) + ": rank " + std::to_string(r) + " " + text_of(state));
        }
      }
    }
    if (missing.empty()) {
      return;
    }
    if (steady::now() > give_up) {
      throw failure(ncclSystemError, std::string(what) + ": within " + std::to_string(deadline().count()) +
                                       " ms there came no rank" + missing);
    }
    wait(seen, look_every_ms);
  }
}

std::shared_ptr<segment> segment::join(std::string const& name, int nranks, int rank, int version,
                                       std::function<bool()> const& cancelled)
{
  auto joined = open(name, nranks, version);
  joined->enter(nranks, rank, version);
  joined->ring();
  try {
    auto const has_come = [&](int r) {
      presence const state = joined->ranks_[r].state;
      bool const is_there =
        state != presence::absent && state != presence::dead && state != presence::aborted;
      return is_there || joined->header_->joined == nranks;
    };
    joined->wait_for_all("joining", has_come, cancelled);
  } catch (failure const&) {
    joined->set_state(rank, presence::aborted);
    shm_unlink(name.c_str());
    throw;
  }
  return joined;
}

void segment::ring()
{
  header_->bell.fetch_add(1);
  syscall(SYS_futex, &header_->bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void segment::wait(std::uint32_t seen, int milliseconds) const
{
  timespec const most_time{milliseconds / 1000, milliseconds % 1000 * 1000000L};
  syscall(SYS_futex, &header_->bell, FUTEX_WAIT, seen, &most_time, nullptr, 0);
}

void segment::look_for_dead()
{
  steady::rep const now = steady::now().time_since_epoch().count();
  if (now < next_look_.load()) {
    return;
  }
  next_look_.store(
    now + std::chrono::duration_cast<steady::duration>(std::chrono::milliseconds(look_every_ms)).count());
  int const self = getpid();
  for (int r = 0; r < nranks(); ++r) {
    int pid               = 0;
    std::uint64_t started = 0;
    {
      lock const guard(*this);
      if (ranks_[r].state == presence::present) {
        pid     = ranks_[r].pid;
        started = ranks_[r].started;
      }
    }
    if (pid != 0 && pid != self && start_of(pid) != started) {
      set_state(r, presence::dead, "process " + std::to_string(pid) + " is gone");
    }
  }
}

void segment::set_state(int r, presence state, std::string const& reason)
{
  {
    lock const guard(*this);
    shared_rank& rank = ranks_[r];
    // Who failed may still abort or leave, but who is gone stays as it is.
    if (rank.state != presence::present && rank.state != presence::failed &&
        rank.state != presence::revoked) {
      return;
    }
    rank.state = state;
    if (!reason.empty()) {
      std::strncpy(rank.reason, reason.c_str(), sizeof rank.reason - 1);
    }
  }
  ring();
}

void segment::meet(int r, std::int64_t first, std::int64_t second, std::function<bool()> const& cancelled,
                   std::function<void(int, std::int64_t const*)> const& take)
{
  // Two steps: all have written; all have read, so that the next meeting may write.
  std::uint64_t goal = 0;
  {
    lock const guard(*this);
    ranks_[r].meeting[0] = first;
    ranks_[r].meeting[1] = second;
    goal                 = ++ranks_[r].meetings;
  }
  ring();
  wait_for_all(
    "ncclCommSplit", [&](int q) { return ranks_[q].meetings >= goal; }, cancelled);
  {
    lock const guard(*this);
    for (int q = 0; q < nranks(); ++q) {
      take(q, ranks_[q].meeting);
    }
    ++ranks_[r].meetings;
  }
  ring();
  wait_for_all(
    "ncclCommSplit", [&](int q) { return ranks_[q].meetings > goal; }, cancelled);
}

}  // namespace loopback
