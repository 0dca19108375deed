/// Device memory: a reserved range of addresses, of which nothing is ever used twice.
///
///   | page | ... bytes of the region, at its end | guard page |     filled with 0xFF: NaN, huge indices
///
/// A region ends where its last page ends, so that one byte too far faults or is seen by the checker. The
/// host cannot reach device memory but while a kernel or a copy runs.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "machine.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace emulation {

char* arena = nullptr;

namespace {

constexpr std::size_t page      = 4096;
constexpr std::size_t alignment = 256;  // cudaMalloc's

std::map<char*, region>& regions()
{
  static auto& all = *new std::map<char*, region>;
  return all;
}
char* next_region = nullptr;
char* next_shared = nullptr;
int next_number   = 0;

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

void reserve()
{
  if (arena != nullptr) {
    return;
  }
  void* const range =
    mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) {
    std::abort();
  }
  arena       = static_cast<char*>(range);
  next_shared = arena;
  mprotect(arena, arena_shared_bytes, PROT_READ | PROT_WRITE);
  next_region = arena + arena_shared_bytes;
}

char* pages_of(region const& r) { return r.begin + round_up(r.size, alignment) - r.span; }

/// Free lists by size; kernels may read what comes from here.
class argument_pool {
 public:
  void* take(std::size_t bytes)
  {
    auto& free = free_[round_up(bytes, alignment)];
    if (!free.empty()) {
      void* const memory = free.back();
      free.pop_back();
      return memory;
    }
    if (begin_ == nullptr) {
      begin_ = static_cast<char*>(mmap(nullptr, pool_bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    }
    char* const memory = begin_ + used_;
    used_ += round_up(bytes, alignment);
    if (used_ > pool_bytes) {
      std::abort();
    }
    return memory;
  }
  void give(void* memory, std::size_t bytes) { free_[round_up(bytes, alignment)].push_back(memory); }
  [[nodiscard]] bool holds(char const* address) const
  {
    return begin_ != nullptr && static_cast<std::size_t>(address - begin_) < used_;
  }

 private:
  static constexpr std::size_t pool_bytes = std::size_t{1} << 30;  // address space; used as needed
  std::map<std::size_t, std::vector<void*>> free_;
  char* begin_      = nullptr;
  std::size_t used_ = 0;
};

argument_pool& arguments()
{
  static auto& pool = *new argument_pool;
  return pool;
}

}  // namespace

void* argument_memory(std::size_t bytes) { return arguments().take(bytes); }
void free_argument_memory(void* memory, std::size_t bytes) { arguments().give(memory, bytes); }
bool in_argument_memory(char const* address) { return arguments().holds(address); }

char* allocate_region(std::size_t size, bool pinned, int device)
{
  reserve();
  std::size_t const rounded = round_up(size, alignment);
  std::size_t const span    = round_up(rounded, page);
  if (size > arena_bytes || next_region + span + page > arena + arena_bytes) {
    return nullptr;
  }
  char* const pages = next_region;
  next_region += span + page;
  mprotect(pages, span, PROT_READ | PROT_WRITE);
  std::memset(pages, 0xFF, span);
  region const one{pages + span - rounded, size, span, pinned, true, device, ++next_number};
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(pages, span);
  ASAN_UNPOISON_MEMORY_REGION(one.begin, size);
#endif
  if (checker.allocated != nullptr) {
    checker.allocated(one.begin, size, pinned);  // the checker does not see what the host writes
  }
  regions()[one.begin] = one;
  if (!pinned) {
    mprotect(pages, span, PROT_NONE);
  }
  return one.begin;
}

bool free_region(void* address)
{
  auto const found = regions().find(static_cast<char*>(address));
  if (found == regions().end()) {
    return false;
  }
  region const one = found->second;
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(pages_of(one), one.span);
#endif
  madvise(pages_of(one), one.span, MADV_DONTNEED);
  mprotect(pages_of(one), one.span, PROT_NONE);
  if (checker.freed != nullptr) {
    checker.freed(one.begin, one.size);
  }
  regions().erase(found);
  return true;
}

region const* find_region(void const* address)
{
  char* const at = static_cast<char*>(const_cast<void*>(address));
  auto next      = regions().upper_bound(at);
  if (next == regions().begin()) {
    return nullptr;
  }
  --next;
  // An empty region has an address, too.
  return at < next->second.begin + next->second.size || at == next->second.begin ? &next->second : nullptr;
}

std::size_t count_regions() { return regions().size(); }

namespace {
void set_reach(region const& one, bool open)
{
  if (!one.pinned && one.usable) {
    mprotect(pages_of(one), one.span, open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
}
}  // namespace

void open_device_memory(bool open)
{
  for (auto const& [begin, one] : regions()) {
    set_reach(one, open);
  }
}

void open_region(void const* address, bool open)
{
  region const* const one = find_region(address);
  if (one != nullptr) {
    set_reach(*one, open);
  }
}

void set_usable(char* begin, bool usable)
{
  auto const found = regions().find(begin);
  if (found == regions().end()) {
    return;
  }
  found->second.usable = usable;
  if (usable && checker.allocated != nullptr) {
    checker.allocated(begin, found->second.size, false);
  } else if (!usable && checker.freed != nullptr) {
    checker.freed(begin, found->second.size);
  }
}

std::vector<allocation> list_allocations()
{
  std::vector<allocation> all;
  for (auto const& [begin, one] : regions()) {
    all.push_back({one.size, one.pinned, one.device, one.number});
  }
  return all;
}

bool in_arena(void const* address)
{
  return arena != nullptr &&
         static_cast<std::size_t>(static_cast<char const*>(address) - arena) < arena_bytes;
}

namespace {
std::map<std::size_t, std::vector<char*>>& free_shared_memory()
{
  static auto& free = *new std::map<std::size_t, std::vector<char*>>;
  return free;
}
}  // namespace

char* allocate_shared(std::size_t size)
{
  reserve();
  auto& free  = free_shared_memory()[size];
  char* begin = nullptr;
  if (!free.empty()) {
    begin = free.back();
    free.pop_back();
  } else {
    begin = next_shared;
    next_shared += round_up(size + 1, alignment);  // nobody's byte behind each
    if (next_shared > arena + arena_shared_bytes) {
      std::abort();
    }
  }
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(begin, size);
#endif
  std::memset(begin, 0xA5, size);
  if (checker.allocated != nullptr) {
    checker.allocated(begin, size, false);
  }
  return begin;
}

void free_shared(char* begin, std::size_t size)
{
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(begin, size);
#endif
  if (checker.freed != nullptr) {
    checker.freed(begin, size);
  }
  free_shared_memory()[size].push_back(begin);
}

}  // namespace emulation
