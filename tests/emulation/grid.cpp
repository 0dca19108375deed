/// Grids: every choice of who runs next comes from one seed.
///
/// Blocks start in a random order; of those that are resident a random one runs for a random number of
/// switches; in it a random thread that can. Some threads are starved: they run only when no other can. A
/// thread gives way at barriers, warp operations, atomics, polls, and in the checked lane at any access.
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>

#include "machine.hpp"
#include "meetings.hpp"

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace emulation {

random_source choices{0};
thread_local_image shared_image;
checker_hooks checker;

namespace {

fiber host;
grid_launch const* current_launch = nullptr;
std::uint64_t launch_number       = 0;
int switches_left                 = 0;  ///< until another block may run
std::uint64_t idle_switches       = 0;  ///< since a thread did something else than poll
bool aborted                      = false;

constexpr std::uint64_t most_idle_switches = 400'000;

fiber* pick(std::vector<fiber*>& from)
{
  std::uint32_t const i = choices.below(from.size());
  fiber* const one      = from[i];
  from[i]               = from.back();
  from.pop_back();
  return one;
}

void thread_of_grid()
{
  current_launch->call->call();
  fiber& mine   = *running;
  block& b      = *mine.owner;
  mine.ended    = true;
  idle_switches = 0;
  --b.alive;
  b.ended[mine.rank / 32] |= 1U << mine.rank % 32;
  complete_groups(b, mine.rank / 32);
  complete_barrier(b);
  give_way();
  std::abort();  // nobody continues a thread that has ended
}

// --- shared memory: the program's thread-local image, one a block

/// By string instructions, since the image also holds what sanitizers watch.
[[gnu::no_sanitize_address]] void copy_image(char* to, char const* from, std::size_t bytes)
{
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

void find_image()
{
  dl_iterate_phdr(
    [](dl_phdr_info* program, std::size_t, void*) {
      for (int i = 0; i < program->dlpi_phnum; ++i) {
        ElfW(Phdr) const& part = program->dlpi_phdr[i];
        if (part.p_type == PT_TLS) {
          std::size_t const aligned = (part.p_memsz + part.p_align - 1) & ~(part.p_align - 1);
          shared_image = {static_cast<char*>(__builtin_thread_pointer()) - aligned, part.p_memsz};
        }
      }
      return 1;  // the program itself comes first
    },
    nullptr);
}

// --- blocks

/// Whether a thread is starved: nobody, one lane, one warp, all first lanes, or a random half.
class starvation {
 public:
  explicit starvation(unsigned threads)
    : kind_{current().starve ? choices.below(5) : 0}, victim_{choices.below(threads)}, coins_{choices.next()}
  {
  }
  [[nodiscard]] bool of(unsigned rank) const
  {
    switch (kind_) {
      case 1:
        return rank == victim_;
      case 2:
        return rank / 32 == victim_ / 32;
      case 3:
        return rank % 32 == 0;
      case 4:
        return (coins_ >> rank % 64 & 1U) != 0;
      default:
        return false;
    }
  }

 private:
  std::uint32_t kind_;
  std::uint32_t victim_;
  std::uint64_t coins_;
};

std::unique_ptr<block> make_block(unsigned number, unsigned place, unsigned threads)
{
  auto b               = std::make_unique<block>();
  dim3 const grid      = current_launch->grid;
  dim3 const shape     = current_launch->threads;
  unsigned const warps = (threads + 31) / 32;
  b->index             = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
  b->number            = number;
  b->place             = place;
  b->alive             = threads;
  b->ended.assign(warps, 0);
  if (threads % 32 != 0) {
    b->ended.back() = ~0U << threads % 32;
  }
  b->absent = b->ended;
  b->groups.resize(warps);
  b->parked.resize(warps);
  b->shared.assign(shared_image.size, static_cast<char>(0xA5));  // shared memory begins as garbage
  if (checker.launch != nullptr) {
    b->shadow_alias = allocate_shared(shared_image.size);
  }
  if (current_launch->dynamic_shared_bytes != 0) {
    b->dynamic_shared = allocate_shared(current_launch->dynamic_shared_bytes);
  }
  starvation const starved{threads};
  for (unsigned rank = 0; rank < threads; ++rank) {
    auto one     = std::make_unique<fiber>();
    one->owner   = b.get();
    one->rank    = rank;
    one->place   = place * threads + rank;
    one->thread  = {rank % shape.x, rank / shape.x % shape.y, rank / shape.x / shape.y};
    one->starved = starved.of(rank);
    prepare(*one, thread_of_grid);
    if (checker.start != nullptr) {
      checker.start(*one);
    }
    make_ready(*one);
    b->threads.push_back(std::move(one));
  }
  return b;
}

void end_block(block& b)
{
  for (std::unique_ptr<fiber>& one : b.threads) {
    release_stack(*one);
  }
  if (b.shadow_alias != nullptr) {
    free_shared(b.shadow_alias, shared_image.size);
  }
  if (b.dynamic_shared != nullptr) {
    free_shared(b.dynamic_shared, current_launch->dynamic_shared_bytes);
  }
}

/// The blocks of one grid, from the first that starts to the last that ends.
class grid_run {
 public:
  explicit grid_run(grid_launch const& launch)
    : threads_{launch.threads.x * launch.threads.y * launch.threads.z}
  {
    unsigned const blocks   = launch.grid.x * launch.grid.y * launch.grid.z;
    unsigned const capacity = static_cast<unsigned>(current().multiprocessors * current().blocks_each);
    resident_               = launch.cooperative ? blocks : 1 + choices.below(std::min(blocks, capacity));
    // A place is used again as late as possible, lest the checker take a new thread for an old one.
    unsigned const places = std::max(resident_ + 1, std::min(8 * resident_, 65536 / threads_));
    for (unsigned place = 0; place < places; ++place) {
      places_.push_back(place);
    }
    if (checker.launch != nullptr) {
      checker.launch(places * threads_);
    }
    for (unsigned number = 0; number < blocks; ++number) {
      pending_.push_back(number);
    }
    std::uint32_t const order = choices.below(3);
    if (order == 1) {
      std::reverse(pending_.begin(), pending_.end());
    } else if (order == 2) {
      for (std::size_t i = pending_.size(); i > 1; --i) {
        std::swap(pending_[i - 1], pending_[choices.below(i)]);
      }
    }
  }

  void run()
  {
    while (!aborted && (!pending_.empty() || !active_.empty())) {
      start_blocks();
      std::size_t const i = choices.below(active_.size());
      block& b            = *active_[i];
      if (b.ready.empty() && b.starved.empty()) {
        if (b.alive != 0) {
          check_for_deadlock();
        }
        continue;
      }
      load(b);
      switches_left = 1 + static_cast<int>(choices.below(4 * threads_));
      switch_context(host, *pick(b.ready.empty() ? b.starved : b.ready));
      if (idle_switches > most_idle_switches) {
        give_up("livelock: all resident threads poll");
      }
      if (b.alive == 0 && !aborted) {
        retire(i);
      }
    }
    for (std::unique_ptr<block>& b : active_) {
      end_block(*b);
    }
  }

 private:
  void start_blocks()
  {
    while (!pending_.empty() && active_.size() < resident_) {
      active_.push_back(make_block(pending_.back(), places_.front(), threads_));
      pending_.pop_back();
      places_.pop_front();
    }
  }

  void retire(std::size_t i)
  {
    places_.push_back(active_[i]->place);
    if (loaded_ == active_[i].get()) {
      loaded_ = nullptr;
    }
    end_block(*active_[i]);
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void load(block& b)
  {
    if (loaded_ == &b || shared_image.size == 0) {
      return;
    }
    if (loaded_ != nullptr) {
      copy_image(loaded_->shared.data(), shared_image.begin, shared_image.size);
    }
    copy_image(shared_image.begin, b.shared.data(), shared_image.size);
    loaded_ = &b;
  }

  void check_for_deadlock()
  {
    for (std::unique_ptr<block> const& b : active_) {
      if (!b->ready.empty() || !b->starved.empty()) {
        return;
      }
    }
    give_up("deadlock");
  }

  void give_up(char const* why)
  {
    std::string stuck;
    int shown = 0;
    for (std::unique_ptr<block> const& b : active_) {
      for (std::unique_ptr<fiber> const& one : b->threads) {
        if (!one->ended && shown++ < 4) {
          stuck += "; block " + std::to_string(b->number) + " thread " + std::to_string(one->rank) + " " +
                   (one->waits != nullptr ? one->waits : "runs or polls");
        }
      }
    }
    report(std::string{why} + " in kernel " + current_launch->kernel + ", " + std::to_string(shown) +
           " threads left" + stuck);
    aborted = true;
  }

  unsigned threads_;
  unsigned resident_ = 0;
  std::deque<unsigned> places_;
  std::vector<unsigned> pending_;
  std::vector<std::unique_ptr<block>> active_;
  block* loaded_ = nullptr;
};

}  // namespace

bool run_grid(grid_launch const& launch)
{
  current_launch = &launch;
  blockDim       = launch.threads;
  gridDim        = launch.grid;
  aborted        = false;
  idle_switches  = 0;
  choices        = random_source{current().seed * 0x100000001B3ULL + ++launch_number};
  find_image();
  note_host_stack(host);
  std::vector<char> own_image(shared_image.size);
  copy_image(own_image.data(), shared_image.begin, shared_image.size);
  grid_run{launch}.run();
  copy_image(shared_image.begin, own_image.data(), shared_image.size);
  unsigned const blocks = launch.grid.x * launch.grid.y * launch.grid.z;
  traffic const moved   = checker.moved != nullptr ? checker.moved() : traffic{};
  note_launch({launch.kernel, blocks, launch.threads.x * launch.threads.y * launch.threads.z,
               launch.cooperative, moved});
  current_launch = nullptr;
  return !aborted;
}

std::string where()
{
  if (running == nullptr) {
    return "host";
  }
  auto const three = [](uint3 const& v) {
    return "(" + std::to_string(v.x) + "," + std::to_string(v.y) + "," + std::to_string(v.z) + ")";
  };
  return "kernel " + current_launch->kernel + " block " + three(blockIdx) + " thread " + three(threadIdx);
}

/// Ends the grid: the scheduler does not come back to any of its threads.
void abort_grid()
{
  aborted = true;
  switch_context(*running, host);
  std::abort();
}

void make_ready(fiber& one)
{
  one.waits = nullptr;
  (one.starved ? one.owner->starved : one.owner->ready).push_back(&one);
}

void give_way()
{
  fiber& mine = *running;
  block& b    = *mine.owner;
  fiber* next = &host;
  if (--switches_left > 0) {
    if (!b.ready.empty() && (b.starved.empty() || choices.below(64) != 0)) {
      next = pick(b.ready);
    } else if (!b.starved.empty()) {
      next = pick(b.starved);
    }
  }
  if (next != &mine) {
    switch_context(mine, *next);
  }
}

// --- what device code calls

void* dynamic_shared_memory() { return running->owner->dynamic_shared; }

unsigned lane_number() { return running->rank % 32; }

void note_progress() { idle_switches = 0; }

void step_aside()
{
  make_ready(*running);
  give_way();
}

void may_be_overtaken()
{
  note_progress();
  if (running != nullptr && choices.below(4) == 0) {
    step_aside();
  }
}

void wait_for_others()
{
  ++idle_switches;
  make_ready(*running);
  if (choices.below(8) == 0) {
    switches_left = 0;  // another block may be what it waits for
  }
  give_way();
}

void report_from_kernel(char const* what)
{
  report(what);
  std::abort();  // report() does not return in a kernel
}

}  // namespace emulation
