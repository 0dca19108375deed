/// What the ranks of one communicator share: a POSIX shared memory segment named by the unique id, mapped
/// once per process, for ranks that are threads and ranks that are processes alike.
///
/// State is read and changed under a robust mutex; who waits sleeps on a futex, the bell, which every change
/// rings. A condition variable would not do: glibc's hangs when a process dies waiting on it. The name is
/// unlinked when the last rank has joined, so that a crash leaves nothing behind.
#pragma once

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "operation.hpp"

namespace loopback {

enum class presence : std::uint32_t { absent, present, left, aborted, revoked, failed, dead };
char const* text_of(presence what);

struct shared_rank {
  int pid                 = 0;
  std::uint64_t started   = 0;  ///< of the process, from /proc: tells a pid that was given again
  presence state          = presence::absent;
  std::uint64_t progress  = 0;  ///< steps of collectives that it has done
  std::uint64_t meetings  = 0;  ///< steps of exchanges between hosts (Split)
  std::int64_t meeting[2] = {};
  call_record published   = {};  ///< the collective that the steps belong to
  call_record call        = {};  ///< what it does now, or did last: for messages
  char reason[200]        = {};  ///< why it failed
};

/// Messages from one rank to another: one chunk at a time.
struct shared_channel {
  bool full          = false;
  bool mismatch      = false;
  call_record call   = {};  ///< the sender's
  std::size_t offset = 0;   ///< of the chunk, in bytes
};

struct shared_header {
  pthread_mutex_t mutex;
  std::atomic<std::uint32_t> bell{0};
  int nranks  = 0;
  int version = 0;
  int joined  = 0;
};

using steady = std::chrono::steady_clock;
/// How long anyone waits without any progress: LOOPBACK_DEADLINE_MS, or 20 s.
std::chrono::milliseconds deadline();

class segment {
 public:
  /// Joins as this rank and waits until all have.
  /// @throws failure if ranks disagree, do not come in time, die, or `cancelled` says so
  static std::shared_ptr<segment> join(std::string const& name, int nranks, int rank, int version,
                                       std::function<bool()> const& cancelled);
  ~segment();
  segment(segment const&)            = delete;
  segment& operator=(segment const&) = delete;

  class lock {
   public:
    explicit lock(segment& of);
    ~lock();
    lock(lock const&)            = delete;
    lock& operator=(lock const&) = delete;

   private:
    pthread_mutex_t& mutex_;
  };

  int nranks() const { return header_->nranks; }
  shared_rank& rank(int r) { return ranks_[r]; }
  shared_channel& channel(int from, int to) { return channels_[from * nranks() + to]; }
  std::byte* slot(int r) { return slots_ + static_cast<std::size_t>(r) * slot_bytes_; }
  std::byte* result(int r) { return slot(nranks() + r); }
  std::byte* channel_slot(int from, int to)
  {
    return channel_slots_ + static_cast<std::size_t>(from * nranks() + to) * channel_bytes_;
  }
  std::size_t slot_bytes() const { return slot_bytes_; }
  std::size_t channel_bytes() const { return channel_bytes_; }

  std::uint32_t bell() const { return header_->bell.load(); }
  void ring();
  /// Sleeps until the bell is no longer that, or some milliseconds have passed.
  void wait(std::uint32_t seen, int milliseconds) const;
  /// Marks ranks whose process is gone; at most every 50 ms, as it reads /proc.
  void look_for_dead();
  /// Only a present rank changes its state.
  void set_state(int r, presence state, std::string const& reason = {});
  /// Gathers two numbers of each rank, between hosts; `take` is called for every rank.
  void meet(int r, std::int64_t first, std::int64_t second, std::function<bool()> const& cancelled,
            std::function<void(int, std::int64_t const*)> const& take);

 private:
  segment(std::string name, void* base, std::size_t bytes, int nranks);
  static std::shared_ptr<segment> open(std::string const& name, int nranks, int version);
  void enter(int nranks, int rank, int version);
  void wait_for_all(char const* what, std::function<bool(int)> const& arrived,
                    std::function<bool()> const& cancelled);

  std::string name_;
  void* base_;
  std::size_t bytes_;
  shared_header* header_;
  shared_rank* ranks_;
  shared_channel* channels_;
  std::byte* slots_;
  std::byte* channel_slots_;
  std::size_t slot_bytes_;
  std::size_t channel_bytes_;
  std::atomic<steady::rep> next_look_{0};
};

}  // namespace loopback
