#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "segment.hpp"

namespace loopback {
namespace {

constexpr std::size_t page     = 4096;
constexpr char const* folder   = "/dev/shm";  // where glibc's shm_open keeps its files
constexpr std::size_t budget   = 8U << 20U;   // of all slots of a kind: containers often have 64 MiB in all
constexpr std::size_t most     = 1U << 20U;
constexpr std::size_t most_p2p = 64U << 10U;

std::size_t rounded(std::size_t bytes) { return (bytes + page - 1) / page * page; }
std::size_t slot_size(std::size_t parts, std::size_t limit)
{
  return std::clamp(budget / parts / page * page, page, limit);
}

[[noreturn]] void system_failure(std::string const& what)
{
  throw failure(ncclSystemError, what + ": " + std::strerror(errno));
}

void make_mutex(pthread_mutex_t& mutex)
{
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

mapping map_file(int file)
{
  struct stat status {};
  if (fstat(file, &status) != 0) {
    system_failure("size of shared memory");
  }
  auto const bytes = static_cast<std::size_t>(status.st_size);
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (base == MAP_FAILED) {
    system_failure("mapping shared memory");
  }
  return {base, bytes};
}

/// A whole segment, under its name; no base: another rank has published one meanwhile.
mapping publish(std::string const& name, int nranks, int version)
{
  static std::atomic<int> drafts{0};
  std::string const draft = name + "." + std::to_string(getpid()) + "." + std::to_string(++drafts);
  int const file          = shm_open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  if (file < 0) {
    system_failure("creating shared memory " + draft);
  }
  layout const place(nranks);
  // Now, not by a SIGBUS later.
  if (int const error = posix_fallocate(file, 0, static_cast<off_t>(place.total)); error != 0) {
    close(file);
    shm_unlink(draft.c_str());
    errno = error;
    system_failure("room for " + std::to_string(place.total) + " bytes of shared memory");
  }
  mapping const made = map_file(file);
  auto* const header = new (made.base) shared_header{};
  make_mutex(header->mutex);
  header->nranks    = nranks;
  header->version   = version;
  auto* const bytes = static_cast<std::byte*>(made.base);
  for (int r = 0; r < nranks; ++r) {
    new (bytes + place.ranks + static_cast<std::size_t>(r) * sizeof(shared_rank)) shared_rank{};
  }
  for (int c = 0; c < nranks * nranks; ++c) {
    new (bytes + place.channels + static_cast<std::size_t>(c) * sizeof(shared_channel)) shared_channel{};
  }
  // A link appears whole or not at all, so nobody sees a segment that is half made.
  bool const won  = link((folder + draft).c_str(), (folder + name).c_str()) == 0;
  int const error = errno;
  shm_unlink(draft.c_str());
  if (won) {
    return made;
  }
  munmap(made.base, made.bytes);
  if (error != EEXIST) {
    errno = error;
    system_failure("publishing shared memory " + name);
  }
  return {nullptr, 0};
}

}  // namespace

layout::layout(int nranks)
{
  auto const n  = static_cast<std::size_t>(nranks);
  slot          = slot_size(2 * n, most);
  channel       = slot_size(n * n, most_p2p);
  ranks         = rounded(sizeof(shared_header));
  channels      = ranks + rounded(n * sizeof(shared_rank));
  slots         = channels + rounded(n * n * sizeof(shared_channel));
  channel_slots = slots + 2 * n * slot;
  total         = channel_slots + n * n * channel;
}

mapping open_or_publish(std::string const& name, int nranks, int version)
{
  mapping found{nullptr, 0};
  while (found.base == nullptr) {
    int const file = shm_open(name.c_str(), O_RDWR, 0600);
    found          = file >= 0 ? map_file(file) : publish(name, nranks, version);
  }
  return found;
}

}  // namespace loopback
