/// Communicators: their making, their end, and what they say of themselves.
#include <utility>

#include "entry.hpp"
#include "streams.hpp"

namespace {

using namespace loopback;

void check_ranks(int nranks, int rank)
{
  if (nranks < 1 || rank < 0 || rank >= nranks) {
    throw failure(ncclInvalidArgument, "rank " + std::to_string(rank) + " of " + std::to_string(nranks));
  }
}

constexpr std::size_t scratch_bytes = 4096;

/// Makes the communicator at `where()`, which may wait for other ranks.
ncclResult_t make(ncclComm_t* out, wishes const& wanted, int device, std::function<place()> const& where)
{
  communicator_ref const comm = prepare(wanted, device);
  if (ncclResult_t const result = ncclMemAlloc(&comm->scratch, scratch_bytes); result != ncclSuccess) {
    throw failure(result, noted_error());
  }
  if (!comm->blocking) {
    comm->begin_polls([] {});
  }
  return group::add(
    {comm, [comm, where] { join(*comm, where()); }, [comm, out] { *out = add_handle(comm); }});
}

ncclResult_t init(ncclComm_t* out, int nranks, ncclUniqueId const& id, int rank, ncclConfig_t const* config,
                  int device = -1)
{
  required(out, "comm");
  check_ranks(nranks, rank);
  place const where{name_of(id), nranks, rank};
  return make(out, wishes::from(config), device, [where] { return where; });
}

wishes inherited(communicator const& parent, ncclConfig_t const* config)
{
  return config != nullptr ? wishes::from(config) : wishes{parent.blocking, parent.name};
}

void require_ready(communicator const& comm)
{
  if (!comm.ready) {
    throw failure(ncclInvalidArgument, "the communicator is still in progress");
  }
}

/// By the exported name, as NCCL does.
void deregister_all(ncclComm_t handle, communicator& comm)
{
  for (void* const one : comm.registrations()) {
    ncclCommDeregister(handle, one);
  }
}

void leave(communicator& comm, presence how)
{
  ncclMemFree(std::exchange(comm.scratch, nullptr));
  if (comm.ready) {
    comm.world->set_state(comm.rank, how);
  }
}

}  // namespace

LOOPBACK_FUNCTION(ncclResult_t, GetVersion, (int* version))
{
  if (version == nullptr) {
    return ncclInvalidArgument;
  }
  *version = loopback::version();
  return ncclSuccess;
}

LOOPBACK_FUNCTION(ncclResult_t, GetUniqueId, (ncclUniqueId * uniqueId))
{
  return entered([&] {
    required(uniqueId, "uniqueId") = make_id();
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommInitRankConfig,
                  (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config))
{
  return entered([&] { return init(comm, nranks, commId, rank, config); });
}

LOOPBACK_FUNCTION(ncclResult_t, CommInitRank, (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank))
{
  return entered([&] { return init(comm, nranks, commId, rank, nullptr); });
}

LOOPBACK_FUNCTION(ncclResult_t, CommInitRankScalable,
                  (ncclComm_t * newcomm, int nranks, int myrank, int nId, ncclUniqueId* commIds,
                   ncclConfig_t* config))
{
  return entered([&] {
    if (nId < 1 || nId > nranks) {
      throw failure(ncclInvalidArgument, "nId is " + std::to_string(nId));
    }
    for (int i = 0; i < nId; ++i) {
      name_of((&required(commIds, "commIds"))[i]);  // all are checked, the first is where ranks meet
    }
    return init(newcomm, nranks, commIds[0], myrank, config);
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommInitAll, (ncclComm_t * comm, int ndev, int const* devlist))
{
  return entered([&] {
    required(comm, "comm");
    if (ndev < 1) {
      throw failure(ncclInvalidArgument, "ndev is " + std::to_string(ndev));
    }
    if (devlist != nullptr &&
        std::set<int>(devlist, devlist + ndev).size() != static_cast<std::size_t>(ndev)) {
      throw failure(ncclInvalidUsage, "a device is twice in devlist");
    }
    ncclUniqueId id;
    if (ncclResult_t const result = ncclGetUniqueId(&id); result != ncclSuccess) {
      return result;
    }
    group::start();
    for (int i = 0; i < ndev; ++i) {
      init(&comm[i], ndev, id, i, nullptr, devlist != nullptr ? devlist[i] : i);
    }
    return group::end();
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommSplit,
                  (ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config))
{
  return entered([&] {
    communicator_ref const parent = find(comm);
    required(newcomm, "newcomm");
    require_ready(*parent);
    if (color < NCCL_SPLIT_NOCOLOR) {
      throw failure(ncclInvalidArgument, "color is " + std::to_string(color));
    }
    *newcomm = nullptr;
    if (color == NCCL_SPLIT_NOCOLOR) {
      auto const take_part = std::make_shared<communicator>();  // and get nothing
      return group::add({take_part, [parent, key] { split(*parent, NCCL_SPLIT_NOCOLOR, key); }, [] {}});
    }
    return make(newcomm, inherited(*parent, config), parent->device,
                [parent, color, key] { return split(*parent, color, key); });
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommShrink,
                  (ncclComm_t comm, int* excludeRanksList, int excludeRanksCount, ncclComm_t* newcomm,
                   ncclConfig_t* config, int shrinkFlags))
{
  return entered([&] {
    communicator_ref const parent = find(comm);
    required(newcomm, "newcomm");
    require_ready(*parent);
    if (excludeRanksCount < 1) {
      throw failure(ncclInvalidArgument, "excludeRanksCount is " + std::to_string(excludeRanksCount));
    }
    required(excludeRanksList, "excludeRanksList");
    std::set<int> const excluded(excludeRanksList, excludeRanksList + excludeRanksCount);
    bool const in_range = *excluded.begin() >= 0 && *excluded.rbegin() < parent->nranks;
    if (!in_range || excluded.count(parent->rank) != 0) {
      throw failure(ncclInvalidArgument, "excludeRanksList holds this rank, or one that there is not");
    }
    if ((shrinkFlags & NCCL_SHRINK_ABORT) != 0) {
      parent->aborted = true;
      parent->world->ring();
    } else {
      parent->require_usable();
    }
    *newcomm = nullptr;
    return make(newcomm, inherited(*parent, config), parent->device,
                [parent, excluded] { return shrink(*parent, excluded); });
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommFinalize, (ncclComm_t comm))
{
  return entered([&] {
    if (comm == nullptr) {
      return ncclSuccess;
    }
    communicator_ref const found = find(comm);
    found->require_usable();
    found->finalized = true;
    streams::flush(*found);
    return found->error();
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommDestroy, (ncclComm_t comm))
{
  return entered([&] {
    if (comm == nullptr) {
      return ncclSuccess;
    }
    communicator_ref const found = find(comm);
    ncclResult_t state           = ncclSuccess;
    ncclCommGetAsyncError(comm, &state);  // by its exported name, as NCCL does
    deregister_all(comm, *found);
    remove_handle(comm);
    if (!found->ready) {
      found->aborted = true;  // it still joins
    }
    found->launch_late();
    streams::flush(*found);
    leave(*found, presence::left);
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommAbort, (ncclComm_t comm))
{
  return entered([&] {
    if (comm == nullptr) {
      return ncclSuccess;
    }
    communicator_ref const found = remove_handle(comm);
    found->aborted               = true;
    found->forget_late();
    leave(*found, presence::aborted);
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommRevoke, (ncclComm_t comm, int revokeFlags))
{
  return entered([&] {
    communicator_ref const found = find(comm);
    require_ready(*found);
    if (revokeFlags != NCCL_REVOKE_DEFAULT) {
      throw failure(ncclInvalidArgument, "revokeFlags is " + std::to_string(revokeFlags));
    }
    if (found->finalized) {
      throw failure(ncclInvalidUsage, "the communicator has been finalized");
    }
    found->revoked = true;
    found->world->set_state(found->rank, presence::revoked);
    return found->begin_polls([] {}) ? ncclInProgress : ncclSuccess;
  });
}
