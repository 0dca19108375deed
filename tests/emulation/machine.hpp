/// What the parts of the emulation know of each other.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulation.hpp"

namespace emulation {

/// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_{seed} {}
  std::uint64_t next()
  {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z               = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z               = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>((next() >> 32) * bound >> 32); }

 private:
  std::uint64_t state_;
};

// --- fibers

struct block;
struct knowledge;  ///< checker: what a thread knows to have happened

/// One thread of a grid.
struct fiber {
  void* stack_pointer = nullptr;
  char* stack         = nullptr;
  void* fake_stack    = nullptr;  ///< AddressSanitizer's
  block* owner        = nullptr;
  uint3 thread{};
  unsigned rank       = 0;  ///< in its block
  unsigned place      = 0;  ///< among all threads that are resident, for the checker
  bool ended          = false;
  bool starved        = false;
  char const* waits   = nullptr;
  std::uint32_t clock = 0;  ///< checker
  std::uint32_t start = 0;
  std::shared_ptr<knowledge const> seen;
  std::shared_ptr<knowledge const> fence_out;
  std::shared_ptr<knowledge const> fence_in;
  void const* polled         = nullptr;
  std::uint64_t polled_value = 0;
};

extern fiber* running;  ///< null in host code

/// Makes a fiber that begins with `entry`.
void prepare(fiber& one, void (*entry)());
void release_stack(fiber& one);
/// Saves one context and continues another. The scheduler's own has no stack of its own.
void switch_context(fiber& from, fiber& to);
void note_host_stack(fiber& host);
[[nodiscard]] bool on_stack(fiber const& one, char const* address);

// --- grids

struct warp_group {
  warp_values values{};
  unsigned mask = 0;
  unsigned left = 0;
  warp_operation what{};
  bool complete = false;
};

struct block {
  uint3 index{};
  unsigned number     = 0;
  unsigned place      = 0;
  unsigned alive      = 0;
  unsigned at_barrier = 0;
  int barrier_line    = 0;
  barrier_vote vote{};
  int votes  = 0;
  int result = 0;
  std::vector<std::unique_ptr<fiber>> threads;
  std::vector<fiber*> ready;
  std::vector<fiber*> starved;
  std::vector<fiber*> waiting;                                   ///< at the barrier
  std::vector<unsigned> absent;                                  ///< lanes that a short last warp lacks
  std::vector<unsigned> ended;                                   ///< lanes, a warp each
  std::vector<std::vector<std::unique_ptr<warp_group>>> groups;  ///< a warp each
  std::vector<std::vector<fiber*>> parked;                       ///< a warp each: in a warp operation
  std::vector<char> shared;                                      ///< image of the thread-local variables
  char* dynamic_shared = nullptr;
  char* shadow_alias   = nullptr;         ///< stands for them in the checker
  std::shared_ptr<knowledge const> base;  ///< checker: known to all its threads
};

struct grid_launch {
  std::string kernel;
  dim3 grid;
  dim3 threads;
  bool cooperative;
  std::size_t dynamic_shared_bytes;
  std::shared_ptr<bound_kernel const> call;
};

/// Runs a grid to its end. @returns false when a report ended it
bool run_grid(grid_launch const& launch);

/// Leaves the running thread for ever, and with it its grid.
[[noreturn]] void abort_grid();

extern random_source choices;  ///< of the running grid
/// A thread did something that others may wait for, so this is no livelock.
void note_progress();
/// Lets other threads run; the caller goes on later.
void step_aside();

/// Where a thread-local variable of the program lies.
struct thread_local_image {
  char* begin      = nullptr;
  std::size_t size = 0;
};
extern thread_local_image shared_image;

/// "kernel k block (1,0,0) thread (7,0,0)", or "host".
[[nodiscard]] std::string where();

/// Notes what is wrong; in a kernel it also ends the grid and does not return.
void report(std::string&& what);

// --- memory

struct region {
  char* begin;
  std::size_t size;
  std::size_t span;  ///< of the pages that hold it; they end where it ends
  bool pinned;       ///< host memory that a device may read
  bool usable;
  int device;
  int number;
};

inline constexpr std::size_t arena_bytes        = std::size_t{1} << 36;
inline constexpr std::size_t arena_shared_bytes = std::size_t{1} << 28;  ///< at its begin, for shadow_alias
extern char* arena;

[[nodiscard]] char* allocate_region(std::size_t size, bool pinned, int device);
[[nodiscard]] bool free_region(void* address);
[[nodiscard]] region const* find_region(void const* address);
[[nodiscard]] std::size_t count_regions();
/// Device memory is out of the host's reach except while kernels and copies run.
void open_device_memory(bool open);
void open_region(void const* address, bool open);  ///< the one that holds it, if any
void set_usable(char* begin, bool usable);         ///< memory of a stream is not before the stream is there
[[nodiscard]] bool in_arena(void const* address);
[[nodiscard]] bool in_argument_memory(char const* address);
/// Memory that a block shares, filled with garbage; and addresses that stand for such memory in the checker.
[[nodiscard]] char* allocate_shared(std::size_t size);
void free_shared(char* begin, std::size_t size);

// --- order of kernels and copies

/// What of the queued work is known to have happened: for each lane (a stream, a branch of a graph) the
/// number of the last task.
using task_times = std::map<unsigned, std::uint32_t>;
void learn(task_times& into, task_times const& from);

// --- the checker's ears; empty where it is not linked

struct checker_hooks {
  void (*launch)(unsigned places)                                      = nullptr;
  void (*start)(fiber& one)                                            = nullptr;
  void (*barrier)(block& all)                                          = nullptr;
  void (*warp)(std::vector<fiber*> const& lanes)                       = nullptr;
  void (*allocated)(char const* begin, std::size_t size, bool written) = nullptr;
  void (*freed)(char const* begin, std::size_t size)                   = nullptr;
  /// A copy, or a fill where `from` is null. @returns false when it was reported
  bool (*copied)(char const* to, char const* from, std::size_t size) = nullptr;
  void (*task)(task_times const& known, unsigned lane)               = nullptr;  ///< the next kernel or copy
  void (*all_ordered)() = nullptr;  ///< later tasks follow all earlier ones
  traffic (*moved)()    = nullptr;  ///< by this grid
};
extern checker_hooks checker;

// --- control

/// A call of the runtime that may fail: what fail_call() wants of it. Also the sticky error.
[[nodiscard]] cudaError_t admit_call(call kind);
void forbid_calls(bool forbidden);  ///< while a function of the host runs in a stream
void note_launch(launch_record const& record);
[[nodiscard]] counters& count();
void lose_device();  ///< every call fails from now on
[[nodiscard]] bool device_is_lost();

}  // namespace emulation
