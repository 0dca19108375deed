/// The checked lane: every access of device code comes here (checker_calls.cpp). Each is
///
///   - a chance for another thread to run,
///   - checked against the bounds and life of its region, and against reads of what nobody wrote,
///   - checked for races, by what CUDA promises to happen before what: barriers, __syncwarp, acquire and
///     release, fences, the begin and end of kernels. Shuffles and votes order nothing.
///
/// For each word of four bytes the last write and up to three reads are remembered: by whom, when, which
/// bytes. A time is a thread's own clock; what a thread knows of the others' is in three levels, so that a
/// barrier costs as much as there are threads in a block:
///
///   before the kernel (everything) | block::base (after a barrier) | fiber::seen (after __syncwarp or
///   acquire)
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "checker.hpp"
#include "machine.hpp"

namespace emulation {

struct knowledge {
  std::vector<std::uint32_t> clock;  ///< of each place
};

namespace {

using shared_knowledge = std::shared_ptr<knowledge const>;

/// One access to a word.
struct access_record {
  std::uint32_t clock;
  std::uint16_t place;
  std::uint8_t bytes;  ///< of the word; 0: no access
  bool atomic;
  std::uint32_t code;  ///< offset in the program
};
/// What is known of a word; all zero for one that nobody owns.
struct word_state {
  access_record write;
  access_record reads[3];
  std::uint32_t launch;     ///< that touched it last, as its kernel_begin
  std::uint8_t owned;       ///< bytes that belong to a region
  std::uint8_t written;     ///< bytes that have a value
  std::uint8_t touched[2];  ///< bytes that this launch has read, and written
};

char* states               = nullptr;  ///< one word_state for each word of the arena
std::uint32_t kernel_begin = 0;        ///< all up to this time happened before the kernel
std::uint32_t latest       = 0;
std::vector<std::uint32_t> clocks;                            ///< of the places
std::unordered_map<void const*, shared_knowledge> published;  ///< by releases, to whom acquires
int until_switch    = 1;
char* program_begin = nullptr;
char* program_end   = nullptr;
traffic moved;  ///< by this launch

word_state& state_of(char const* address)
{
  return reinterpret_cast<word_state*>(states)[static_cast<std::size_t>(address - arena) / 4];
}

void find_program()
{
  dl_iterate_phdr(
    [](dl_phdr_info* program, std::size_t, void*) {
      program_begin = reinterpret_cast<char*>(program->dlpi_addr);
      for (int i = 0; i < program->dlpi_phnum; ++i) {
        ElfW(Phdr) const& part = program->dlpi_phdr[i];
        if (part.p_type == PT_LOAD) {
          program_end = std::max(program_end, program_begin + part.p_vaddr + part.p_memsz);
        }
      }
      return 1;
    },
    nullptr);
}

void reserve_states()
{
  if (states != nullptr) {
    return;
  }
  void* const range = mmap(nullptr, arena_bytes / 4 * sizeof(word_state), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    std::perror("emulation: no address space for the checker");
    std::abort();
  }
  states = static_cast<char*>(range);
  find_program();
}

/// Calls visit(word, bytes of it) for each word of a range.
template <class Visit>
void for_each_word(char const* begin, std::size_t size, Visit const& visit)
{
  for (char const* at = begin; at < begin + size;) {
    unsigned const offset = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(at) & 3U);
    auto const count =
      static_cast<unsigned>(std::min<std::size_t>(4 - offset, static_cast<std::size_t>(begin + size - at)));
    visit(at, static_cast<std::uint8_t>(((1U << count) - 1) << offset));
    at += count;
  }
}

void set_owned(char const* begin, std::size_t size, bool owned, bool written)
{
  for_each_word(begin, size, [&](char const* at, std::uint8_t bytes) {
    word_state& word = state_of(at);
    if ((word.owned & ~bytes) == 0) {  // nobody else's bytes in this word
      word = word_state{};
    }
    word.owned   = static_cast<std::uint8_t>(owned ? word.owned | bytes : word.owned & ~bytes);
    word.written = static_cast<std::uint8_t>(written ? word.written | bytes : word.written & ~bytes);
  });
}

// --- what happens before what

void tick(fiber& one)
{
  clocks[one.place] = ++one.clock;
  latest            = std::max(latest, one.clock);
}

void join(std::vector<std::uint32_t>& into, shared_knowledge const& from)
{
  for (std::size_t i = 0; from != nullptr && i < into.size(); ++i) {
    into[i] = std::max(into[i], from->clock[i]);
  }
}

shared_knowledge joined(shared_knowledge const& a, shared_knowledge const& b)
{
  if (b == nullptr || a == b) {
    return a;
  }
  if (a == nullptr) {
    return b;
  }
  auto both = std::make_shared<knowledge>(*a);
  join(both->clock, b);
  return both;
}

/// All that a thread knows, itself included.
shared_knowledge all_known_to(fiber const& one)
{
  auto all = std::make_shared<knowledge>();
  all->clock.assign(clocks.size(), 0);
  join(all->clock, one.owner->base);
  join(all->clock, one.seen);
  all->clock[one.place] = one.clock;
  return all;
}

bool happened_before(access_record const& access, fiber const& one)
{
  return access.clock <= kernel_begin || (access.place == one.place && access.clock >= one.start) ||
         (one.seen != nullptr && one.seen->clock[access.place] >= access.clock) ||
         (one.owner->base != nullptr && one.owner->base->clock[access.place] >= access.clock);
}

void on_launch(unsigned places)
{
  reserve_states();
  kernel_begin = ++latest;
  clocks.assign(places, kernel_begin);
  published.clear();
  moved = traffic{};
}

void on_start(fiber& one)
{
  one.clock = clocks[one.place];
  tick(one);
  one.start = one.clock;
}

void on_barrier(block& all)
{
  auto base = std::make_shared<knowledge>();
  base->clock.assign(clocks.size(), 0);
  join(base->clock, all.base);
  knowledge const* last = nullptr;
  for (std::unique_ptr<fiber> const& one : all.threads) {
    if (one->seen.get() != last) {
      join(base->clock, one->seen);
      last = one->seen.get();
    }
    base->clock[one->place] = one->clock;
  }
  all.base = base;
  for (std::unique_ptr<fiber> const& one : all.threads) {
    one->seen = nullptr;
    if (!one->ended) {
      tick(*one);
    }
  }
}

void on_warp(std::vector<fiber*> const& lanes)
{
  auto known = std::make_shared<knowledge>();
  known->clock.assign(clocks.size(), 0);
  for (fiber* const one : lanes) {
    join(known->clock, one->seen);
    known->clock[one->place] = one->clock;
  }
  for (fiber* const one : lanes) {
    one->seen = known;
    tick(*one);
  }
}

// --- reports

std::string source_line(std::uint32_t code)
{
  char command[256];
  std::snprintf(command, sizeof command,
                "addr2line -Cpi -e /proc/self/exe %#x 2>/dev/null | grep -v 'emulation' | head -n 1",
                code - 1);
  std::string line;
  // /proc/self would be the shell's: name this process.
  std::string const self = "/proc/" + std::to_string(getpid()) + "/exe";
  std::string text       = command;
  text.replace(text.find("/proc/self/exe"), std::string{"/proc/self/exe"}.size(), self);
  if (std::FILE* const pipe = popen(text.c_str(), "r")) {
    char buffer[512];
    if (std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
      line = buffer;
    }
    pclose(pipe);
  }
  line = line.substr(0, line.find('\n'));
  line = line.substr(line.rfind('/') == std::string::npos ? 0 : line.rfind('/') + 1);
  return line.empty() ? "?" : line;
}

std::string describe(char const* address)
{
  region const* const r = find_region(address);
  if (r != nullptr) {
    return "allocation " + std::to_string(r->number) + " of " + std::to_string(r->size) + " bytes, at byte " +
           std::to_string(address - r->begin);
  }
  return address < arena + arena_shared_bytes ? "shared memory" : "device memory that is no allocation";
}

void report_race(char const* address, bool writes, std::uint32_t code, access_record const& other,
                 bool other_wrote)
{
  report("data race on " + describe(address) + ": " + (writes ? "written" : "read") + " in " +
         source_line(code) + ", " + (other_wrote ? "written" : "read") + " by another thread in " +
         source_line(other.code));
}

// --- accesses

/// Races of an access with those that are remembered, and its record.
void check_order(word_state& word, char const* address, access_record const& mine, bool writes,
                 fiber const& one)
{
  auto const conflicts = [&](access_record const& other) {
    return current().report_races && (other.bytes & mine.bytes) != 0 && !(other.atomic && mine.atomic) &&
           !happened_before(other, one);
  };
  if (conflicts(word.write)) {
    report_race(address, writes, mine.code, word.write, true);
  }
  if (writes) {
    for (access_record& read : word.reads) {
      if (conflicts(read)) {
        report_race(address, writes, mine.code, read, false);
      }
      if ((read.bytes & ~mine.bytes) == 0) {
        read.bytes = 0;
      }
    }
    word.write = mine;
    return;
  }
  for (access_record& read : word.reads) {
    if (read.bytes == 0 || happened_before(read, one)) {
      read = mine;
      return;
    }
  }
  word.reads[choices.below(3)] = mine;
}

/// Bytes of global memory that an access touches, and which of them this launch had not touched so before.
void count(word_state& word, std::uint8_t bytes, bool writes)
{
  if (word.launch != kernel_begin) {
    word.launch     = kernel_begin;
    word.touched[0] = 0;
    word.touched[1] = 0;
  }
  std::uint8_t& before = word.touched[writes ? 1 : 0];
  auto const fresh     = static_cast<unsigned>(bytes & ~before);
  before               = static_cast<std::uint8_t>(before | bytes);
  (writes ? moved.written : moved.read) += static_cast<unsigned>(__builtin_popcount(bytes));
  (writes ? moved.written_once : moved.read_once) += static_cast<unsigned>(__builtin_popcount(fresh));
}

bool acquires(int order)
{
  return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order >= __ATOMIC_ACQ_REL;
}
bool releases(int order) { return order == __ATOMIC_RELEASE || order >= __ATOMIC_ACQ_REL; }

struct installation {
  installation()
  {
    checker.launch    = on_launch;
    checker.start     = on_start;
    checker.barrier   = on_barrier;
    checker.warp      = on_warp;
    checker.allocated = [](char const* begin, std::size_t size, bool written) {
      reserve_states();
      set_owned(begin, size, true, written);
    };
    checker.freed  = [](char const* begin, std::size_t size) { set_owned(begin, size, false, false); };
    checker.copied = [](char const* to, char const*, std::size_t size) {
      if (in_arena(to)) {
        set_owned(to, size, true, true);
      }
      return true;
    };
    checker.moved = [] { return moved; };
  }
} const install;

}  // namespace

void access(void const* address, std::size_t size, bool writes, bool atomic, void const* return_address)
{
  fiber* const one = running;
  if (one == nullptr) {
    return;
  }
  auto* at        = static_cast<char const*>(address);
  auto const code = static_cast<std::uint32_t>(static_cast<char const*>(return_address) - program_begin);
  if (static_cast<std::size_t>(at - arena) >= arena_bytes) {
    if (static_cast<std::size_t>(at - shared_image.begin) < shared_image.size) {
      at = one->owner->shadow_alias + (at - shared_image.begin);
    } else {
      if (!on_stack(*one, at) && !(at >= program_begin && at < program_end) && !in_argument_memory(at)) {
        report("device code touches host memory in " + source_line(code));
      }
      return;
    }
  }
  if (!atomic && --until_switch <= 0) {
    until_switch = 1 + static_cast<int>(choices.below(2 * current().preempt));
    step_aside();
  }
  for_each_word(at, size, [&](char const* word_address, std::uint8_t bytes) {
    word_state& word = state_of(word_address);
    if ((word.owned & bytes) != bytes) {
      report(std::string{writes ? "write" : "read"} + " out of bounds, " + describe(word_address) + ", in " +
             source_line(code));
    }
    if (!writes && (word.written & bytes) != bytes) {
      report("read of memory that nobody wrote, " + describe(word_address) + ", in " + source_line(code));
    }
    if (word_address >= arena + arena_shared_bytes) {
      count(word, bytes, writes);
    }
    check_order(word, word_address, {one->clock, static_cast<std::uint16_t>(one->place), bytes, atomic, code},
                writes, *one);
    if (writes) {
      note_progress();
      word.written = static_cast<std::uint8_t>(word.written | bytes);
    }
  });
}

/// Before an atomic operation others may run. One that loads what it loaded before polls.
void before_atomic(void const* address, bool only_loads, std::uint64_t value)
{
  fiber* const one = running;
  if (one == nullptr) {
    return;
  }
  bool const polls  = only_loads && one->polled == address && one->polled_value == value;
  one->polled       = only_loads ? address : nullptr;
  one->polled_value = value;
  if (polls) {
    wait_for_others();
  } else if (!only_loads) {
    may_be_overtaken();
  } else if (choices.below(4) == 0) {
    step_aside();
  }
}

void after_atomic(void const* address, std::size_t size, bool reads, bool writes, int order, void const* from)
{
  fiber* const one = running;
  if (one == nullptr) {
    return;
  }
  if (reads) {
    access(address, size, false, true, from);
  }
  if (writes) {
    access(address, size, true, true, from);
  }
  shared_knowledge& there = published[address];
  if (reads) {
    shared_knowledge& into = acquires(order) ? one->seen : one->fence_in;
    into                   = joined(into, there);
  }
  if (writes) {
    shared_knowledge const given = releases(order) ? all_known_to(*one) : one->fence_out;
    there = reads ? joined(there, given) : given;  // a change continues what was released
    if (releases(order)) {
      tick(*one);
    }
  }
}

void fence(int order)
{
  fiber* const one = running;
  if (one == nullptr) {
    return;
  }
  if (acquires(order)) {
    one->seen     = joined(one->seen, one->fence_in);
    one->fence_in = nullptr;
  }
  if (releases(order)) {
    one->fence_out = all_known_to(*one);
    tick(*one);
  }
}

bool is_checked() { return true; }

}  // namespace emulation
