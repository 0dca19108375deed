/// How communicators come to be: ids, joining, children.
#include <sys/random.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "communicator.hpp"
#include "streams.hpp"
#include "traffic.hpp"

namespace loopback {
namespace {

constexpr char magic[8]         = {'l', 'o', 'o', 'p', 'b', 'a', 'c', 'k'};
constexpr std::size_t id_random = 16;  // bytes

thread_local int thread_device = -1;

/// The same on all ranks that call for a child with the same arguments, and on no others.
std::string child_id(communicator const& parent, std::string const& which)
{
  // FNV-1a, so that children of children have short names as well.
  std::uint64_t hash = 14695981039346656037ULL;
  for (char const c : parent.id + "/" + std::to_string(parent.children) + "/" + which) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return parent.id.substr(0, parent.id.find('-')) + "-" + std::to_string(hash);
}

}  // namespace

wishes wishes::from(ncclConfig_t const* config)
{
  wishes wanted;
  char const* const blocking = std::getenv("NCCL_COMM_BLOCKING");  // overrides the config, as in NCCL
  if (config != nullptr) {
    if (config->magic != NCCL_CONFIG_MAGIC || config->size < offsetof(ncclConfig_t, cgaClusterSize)) {
      throw failure(ncclInvalidArgument, "the ncclConfig_t was not made by NCCL_CONFIG_INITIALIZER");
    }
    if (config->blocking != NCCL_CONFIG_UNDEF_INT && config->blocking != 0 && config->blocking != 1) {
      throw failure(ncclInvalidArgument, "config.blocking is " + std::to_string(config->blocking));
    }
    wanted.blocking = config->blocking != 0;
    // An older program has a shorter struct.
    bool const has_name = config->size >= offsetof(ncclConfig_t, commName) + sizeof(config->commName);
    if (has_name && config->commName != nullptr) {
      wanted.name = config->commName;
    }
  }
  if (blocking != nullptr) {
    wanted.blocking = std::atoi(blocking) != 0;
  }
  return wanted;
}

communicator_ref prepare(wishes const& wanted, int device)
{
  auto comm      = std::make_shared<communicator>();
  comm->blocking = wanted.blocking;
  comm->name     = wanted.name;
  comm->device   = device >= 0 ? device : thread_device >= 0 ? thread_device : streams::current_device();
  return comm;
}

void join(communicator& comm, place const& where)
{
  comm.id     = where.id;
  comm.nranks = where.nranks;
  comm.rank   = where.rank;
  comm.sent   = traffic::begin(where.id, comm.name, where.rank, where.nranks);
  if (comm.device < 0) {
    comm.device = where.rank;  // without CUDA each rank has a device of its own
  }
  int number = 0;
  ncclGetVersion(&number);  // by its exported name, as NCCL does
  comm.world = segment::join("/bird_loopback_" + comm.id, comm.nranks, comm.rank, number,
                             [&] { return comm.aborted.load(); });
  comm.ready = true;
}

place split(communicator& parent, int color, int key)
{
  struct member {
    std::int64_t key;
    int rank;
  };
  std::vector<member> members;
  ++parent.children;
  parent.world->meet(
    parent.rank, color, key, [&] { return parent.aborted.load(); },
    [&](int rank, std::int64_t const* said) {
      if (said[0] == color) {
        members.push_back({said[1], rank});
      }
    });
  if (color == NCCL_SPLIT_NOCOLOR) {
    return {};
  }
  std::sort(members.begin(), members.end(), [](member const& a, member const& b) {
    return std::tie(a.key, a.rank) < std::tie(b.key, b.rank);
  });
  auto const self =
    std::find_if(members.begin(), members.end(), [&](member const& one) { return one.rank == parent.rank; });
  return {child_id(parent, "split " + std::to_string(color)), static_cast<int>(members.size()),
          static_cast<int>(self - members.begin())};
}

place shrink(communicator& parent, std::set<int> const& excluded)
{
  ++parent.children;
  std::string which = "shrink";
  int before        = 0;
  for (int const rank : excluded) {
    which += " " + std::to_string(rank);
    before += rank < parent.rank ? 1 : 0;
  }
  return {child_id(parent, which), parent.nranks - static_cast<int>(excluded.size()), parent.rank - before};
}

ncclUniqueId make_id()
{
  ncclUniqueId id{};
  std::memcpy(id.internal, magic, sizeof magic);
  if (getrandom(id.internal + sizeof magic, id_random, 0) != static_cast<ssize_t>(id_random)) {
    throw failure(ncclSystemError, "no random numbers for an id");
  }
  return id;
}

std::string name_of(ncclUniqueId const& id)
{
  bool const zero_tail = std::all_of(id.internal + sizeof magic + id_random, id.internal + sizeof id.internal,
                                     [](char c) { return c == 0; });
  if (std::memcmp(id.internal, magic, sizeof magic) != 0 || !zero_tail) {
    throw failure(ncclInvalidArgument, "the unique id was not made by ncclGetUniqueId");
  }
  std::string name;
  for (std::size_t i = 0; i < id_random; ++i) {
    unsigned const byte = static_cast<unsigned char>(id.internal[sizeof magic + i]);
    name += "0123456789abcdef"[byte >> 4U];
    name += "0123456789abcdef"[byte & 15U];
  }
  return name;
}

int version()
{
  char const* const wanted = std::getenv("LOOPBACK_VERSION");
  return wanted == nullptr ? NCCL_VERSION_CODE : std::atoi(wanted);
}

void set_thread_device(int device) { thread_device = device; }

}  // namespace loopback
