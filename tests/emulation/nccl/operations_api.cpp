/// Collectives, sends and receives, operators, groups.
#include <cstring>

#include "entry.hpp"

namespace {

using namespace loopback;

void check_type(ncclDataType_t type)
{
  if (static_cast<int>(type) < 0 || static_cast<int>(type) >= ncclNumTypes) {
    throw failure(ncclInvalidArgument, "there is no data type " + std::to_string(static_cast<int>(type)));
  }
}

void check_rank(communicator const& comm, int rank, char const* what)
{
  if (rank < 0 || rank >= comm.nranks) {
    throw failure(ncclInvalidArgument, std::string(what) + " is " + std::to_string(rank) +
                                         ", and there are " + std::to_string(comm.nranks) + " ranks");
  }
}

struct arguments {
  kind what;
  void const* send;
  void* recv;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op = ncclSum;
  int root       = 0;
};

void check_buffers(communicator const& comm, arguments const& given)
{
  bool const is_root   = comm.rank == given.root;
  bool const one_sends = given.what == kind::broadcast || given.what == kind::scatter;
  bool const one_takes = given.what == kind::reduce || given.what == kind::gather;
  bool const sends     = given.what != kind::recv && (!one_sends || is_root);
  bool const takes     = given.what != kind::send && (!one_takes || is_root);
  if ((sends && given.send == nullptr) || (takes && given.recv == nullptr)) {
    throw failure(ncclInvalidArgument, std::string(name_of(given.what)) + ": " +
                                         (sends && given.send == nullptr ? "sendbuff" : "recvbuff") +
                                         " is NULL");
  }
}

ncclResult_t call(arguments const& given, ncclComm_t handle, cudaStream_t stream)
{
  return entered([&] {
    communicator_ref const comm = find(handle);
    comm->require_usable();
    check_type(given.type);
    check_rank(*comm, given.root, given.what == kind::send || given.what == kind::recv ? "peer" : "root");
    operation op;
    op.call   = {0, given.what, given.count, given.type, given.op, given.root};
    op.send   = given.send;
    op.recv   = given.recv;
    op.stream = stream;
    if (op.reduces() && given.op >= ncclNumOps) {
      op.scale =
        comm->find_operator(given.op, given.type);  // copied: it may be destroyed before the group ends
      op.call.op = pre_mul_sum;
    } else if (static_cast<int>(given.op) < 0) {
      throw failure(ncclInvalidArgument,
                    "there is no operator " + std::to_string(static_cast<int>(given.op)));
    }
    if (given.count == 0 && op.is_collective()) {
      return ncclSuccess;  // NCCL does nothing either
    }
    if (given.count != 0) {
      check_buffers(*comm, given);
    }
    return group::add(comm, op);
  });
}

}  // namespace

LOOPBACK_FUNCTION(ncclResult_t, AllReduce,
                  (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                   ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream))
{
  return call({kind::all_reduce, sendbuff, recvbuff, count, datatype, op}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, Reduce,
                  (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                   ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream))
{
  return call({kind::reduce, sendbuff, recvbuff, count, datatype, op, root}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, ReduceScatter,
                  (void const* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                   ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream))
{
  return call({kind::reduce_scatter, sendbuff, recvbuff, recvcount, datatype, op}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, AllGather,
                  (void const* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                   ncclComm_t comm, cudaStream_t stream))
{
  return call({kind::all_gather, sendbuff, recvbuff, sendcount, datatype}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, Broadcast,
                  (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                   ncclComm_t comm, cudaStream_t stream))
{
  return call({kind::broadcast, sendbuff, recvbuff, count, datatype, ncclSum, root}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, Bcast,
                  (void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                   cudaStream_t stream))
{
  return ncclBroadcast(buff, buff, count, datatype, root, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, AlltoAll,
                  (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                   ncclComm_t comm, cudaStream_t stream))
{
  return call({kind::all_to_all, sendbuff, recvbuff, count, datatype}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, Gather,
                  (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                   ncclComm_t comm, cudaStream_t stream))
{
  return call({kind::gather, sendbuff, recvbuff, count, datatype, ncclSum, root}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, Scatter,
                  (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                   ncclComm_t comm, cudaStream_t stream))
{
  return call({kind::scatter, sendbuff, recvbuff, count, datatype, ncclSum, root}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, Send,
                  (void const* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                   cudaStream_t stream))
{
  return call({kind::send, sendbuff, nullptr, count, datatype, ncclSum, peer}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, Recv,
                  (void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                   cudaStream_t stream))
{
  return call({kind::recv, nullptr, recvbuff, count, datatype, ncclSum, peer}, comm, stream);
}

LOOPBACK_FUNCTION(ncclResult_t, RedOpCreatePreMulSum,
                  (ncclRedOp_t * op, void* scalar, ncclDataType_t datatype, ncclScalarResidence_t residence,
                   ncclComm_t comm))
{
  return entered([&] {
    required(op, "op");
    required(static_cast<char*>(scalar), "scalar");
    check_type(datatype);
    scaling scale;
    if (residence == ncclScalarHostImmediate) {
      scale.from = scaling::source::host;
      std::memcpy(scale.value, scalar, size_of(datatype));
    } else {
      scale.from    = scaling::source::device;
      scale.pointer = scalar;
    }
    *op = find(comm)->add_operator(datatype, scale);
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, RedOpDestroy, (ncclRedOp_t op, ncclComm_t comm))
{
  return entered([&] {
    find(comm)->remove_operator(op);
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, GroupStart, (void))
{
  return entered([&] {
    group::start();
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, GroupEnd, (void))
{
  return entered([&] { return group::end(); });
}

LOOPBACK_FUNCTION(ncclResult_t, GroupSimulateEnd, (ncclSimInfo_t * simInfo))
{
  return entered([&] {
    if (simInfo != nullptr && simInfo->magic != NCCL_SIM_INFO_MAGIC) {
      throw failure(ncclInvalidArgument, "the ncclSimInfo_t was not made by NCCL_SIM_INFO_INITIALIZER");
    }
    std::size_t const operations = group::simulate_end();
    if (simInfo != nullptr) {
      simInfo->estimatedTime = static_cast<float>(operations);  // one microsecond each: there is no model
    }
    return ncclSuccess;
  });
}
