/// Communicators: their making, their end, and what they say of themselves.
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

ncclResult_t init(ncclComm_t* out, int nranks, ncclUniqueId const& id, int rank, ncclConfig_t const* config,
                  int device = -1)
{
  required(out, "comm");
  check_ranks(nranks, rank);
  communicator_ref const comm = prepare(name_of(id), nranks, rank, wishes::from(config));
  if (device >= 0) {
    comm->device = device;
  }
  if (!comm->blocking) {
    comm->begin_polls([] {});
  }
  return group::add({comm, [comm] { join(*comm); }, [comm, out] { *out = add_handle(comm); }});
}

wishes inherited(communicator const& parent, ncclConfig_t const* config)
{
  return config != nullptr ? wishes::from(config) : wishes{parent.blocking, parent.name};
}

/// A communicator made from another; `find_place` may wait for its other ranks.
ncclResult_t derive(communicator_ref const& parent, ncclComm_t* out, ncclConfig_t const* config,
                    std::function<child()> const& find_place)
{
  wishes const wanted = inherited(*parent, config);
  *out                = nullptr;
  if (!wanted.blocking) {
    // The handle must be there before the place is known. Whoever gets none learns it by now.
    child const place = find_place();
    if (place.nranks == 0) {
      return ncclSuccess;
    }
    communicator_ref const comm = prepare(place.id, place.nranks, place.rank, wanted);
    comm->device                = parent->device;
    comm->begin_polls([] {});
    return group::add({comm, [comm] { join(*comm); }, [comm, out] { *out = add_handle(comm); }});
  }
  auto const made = std::make_shared<communicator_ref>();
  auto const body = [parent, wanted, find_place, made] {
    child const place = find_place();
    if (place.nranks == 0) {
      return;
    }
    communicator_ref const comm = prepare(place.id, place.nranks, place.rank, wanted);
    comm->device                = parent->device;
    join(*comm);
    *made = comm;
  };
  auto const finish = [made, out] {
    if (*made) {
      *out = add_handle(*made);
    }
  };
  auto const runs_as = std::make_shared<communicator>();  // blocking, whatever the parent is
  return group::add({runs_as, body, finish});
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
    return derive(parent, newcomm, config, [parent, color, key] { return split(*parent, color, key); });
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
    return derive(parent, newcomm, config, [parent, excluded] { return shrink(*parent, excluded); });
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
    if (state == ncclInProgress) {
      found->aborted = true;
    }
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
