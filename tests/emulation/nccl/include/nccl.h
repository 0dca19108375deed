/// NCCL's C interface as of 2.28: types, values and functions with NCCL's own names, for tests on machines
/// without its header. header_test.cpp holds it against the real one where that exists.
#ifndef NCCL_H_
#define NCCL_H_

#include <limits.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st* cudaStream_t;

#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_PATCH 9
#define NCCL_VERSION_CODE 22809
#define NCCL_VERSION(X, Y, Z) (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))

typedef struct ncclComm* ncclComm_t;
typedef struct ncclWindow_vidmem* ncclWindow_t;

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
  ncclSuccess            = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError        = 2,
  ncclInternalError      = 3,
  ncclInvalidArgument    = 4,
  ncclInvalidUsage       = 5,
  ncclRemoteError        = 6,
  ncclInProgress         = 7,
  ncclNumResults         = 8
} ncclResult_t;

#define NCCL_CONFIG_UNDEF_INT INT_MIN
#define NCCL_CONFIG_UNDEF_PTR NULL
#define NCCL_SPLIT_NOCOLOR (-1)
#define NCCL_UNDEF_FLOAT (-1.0f)
#define NCCL_SHRINK_DEFAULT 0x00
#define NCCL_SHRINK_ABORT 0x01
#define NCCL_REVOKE_DEFAULT 0x00
#define NCCL_WIN_DEFAULT 0x00
#define NCCL_WIN_COLL_SYMMETRIC 0x01

typedef struct ncclConfig_v22800 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  int blocking;
  int cgaClusterSize;
  int minCTAs;
  int maxCTAs;
  char const* netName;
  int splitShare;
  int trafficClass;
  char const* commName;
  int collnetEnable;
  int CTAPolicy;
  int shrinkShare;
  int nvlsCTAs;
  int nChannelsPerNetPeer;
  int nvlinkCentricSched;
} ncclConfig_t;

#define NCCL_CONFIG_MAGIC 0xcafebeefU
#define NCCL_CONFIG_INITIALIZER                                                                   \
  {                                                                                               \
    sizeof(ncclConfig_t), NCCL_CONFIG_MAGIC, NCCL_VERSION_CODE, NCCL_CONFIG_UNDEF_INT,            \
      NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_PTR, \
      NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_PTR, NCCL_CONFIG_UNDEF_INT, \
      NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, NCCL_CONFIG_UNDEF_INT, \
      NCCL_CONFIG_UNDEF_INT                                                                       \
  }

typedef struct ncclSimInfo_v22200 {
  size_t size;
  unsigned int magic;
  unsigned int version;
  float estimatedTime;
} ncclSimInfo_t;

#define NCCL_SIM_INFO_MAGIC 0x74685283U
#define NCCL_SIM_INFO_INITIALIZER                                                   \
  {                                                                                 \
    sizeof(ncclSimInfo_t), NCCL_SIM_INFO_MAGIC, NCCL_VERSION_CODE, NCCL_UNDEF_FLOAT \
  }

typedef enum { ncclNumOps_dummy = 5 } ncclRedOp_dummy_t;
typedef enum {
  ncclSum      = 0,
  ncclProd     = 1,
  ncclMax      = 2,
  ncclMin      = 3,
  ncclAvg      = 4,
  ncclNumOps   = 5,
  ncclMaxRedOp = 0x7fffffff >> (32 - 8 * sizeof(ncclRedOp_dummy_t))
} ncclRedOp_t;

typedef enum {
  ncclInt8       = 0,
  ncclChar       = 0,
  ncclUint8      = 1,
  ncclInt32      = 2,
  ncclInt        = 2,
  ncclUint32     = 3,
  ncclInt64      = 4,
  ncclUint64     = 5,
  ncclFloat16    = 6,
  ncclHalf       = 6,
  ncclFloat32    = 7,
  ncclFloat      = 7,
  ncclFloat64    = 8,
  ncclDouble     = 8,
  ncclBfloat16   = 9,
  ncclFloat8e4m3 = 10,
  ncclFloat8e5m2 = 11,
  ncclNumTypes   = 12
} ncclDataType_t;

typedef enum { ncclScalarDevice = 0, ncclScalarHostImmediate = 1 } ncclScalarResidence_t;

/* Each function exists twice: ncclX, which may be interposed, and pncclX, the same for the interposer. */
#define NCCL_DECLARE(result, name, parameters) \
  result nccl##name parameters;                \
  result pnccl##name parameters

NCCL_DECLARE(ncclResult_t, MemAlloc, (void** ptr, size_t size));
NCCL_DECLARE(ncclResult_t, MemFree, (void* ptr));
NCCL_DECLARE(ncclResult_t, GetVersion, (int* version));
NCCL_DECLARE(ncclResult_t, GetUniqueId, (ncclUniqueId * uniqueId));
NCCL_DECLARE(ncclResult_t, CommInitRankConfig,
             (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config));
NCCL_DECLARE(ncclResult_t, CommInitRank, (ncclComm_t * comm, int nranks, ncclUniqueId commId, int rank));
NCCL_DECLARE(ncclResult_t, CommInitRankScalable,
             (ncclComm_t * newcomm, int nranks, int myrank, int nId, ncclUniqueId* commIds,
              ncclConfig_t* config));
NCCL_DECLARE(ncclResult_t, CommInitAll, (ncclComm_t * comm, int ndev, int const* devlist));
NCCL_DECLARE(ncclResult_t, CommFinalize, (ncclComm_t comm));
NCCL_DECLARE(ncclResult_t, CommDestroy, (ncclComm_t comm));
NCCL_DECLARE(ncclResult_t, CommAbort, (ncclComm_t comm));
NCCL_DECLARE(ncclResult_t, CommRevoke, (ncclComm_t comm, int revokeFlags));
NCCL_DECLARE(ncclResult_t, CommSplit,
             (ncclComm_t comm, int color, int key, ncclComm_t* newcomm, ncclConfig_t* config));
NCCL_DECLARE(ncclResult_t, CommShrink,
             (ncclComm_t comm, int* excludeRanksList, int excludeRanksCount, ncclComm_t* newcomm,
              ncclConfig_t* config, int shrinkFlags));
NCCL_DECLARE(char const*, GetErrorString, (ncclResult_t result));
NCCL_DECLARE(char const*, GetLastError, (ncclComm_t comm));
NCCL_DECLARE(ncclResult_t, CommGetAsyncError, (ncclComm_t comm, ncclResult_t* asyncError));
NCCL_DECLARE(ncclResult_t, CommCount, (const ncclComm_t comm, int* count));
NCCL_DECLARE(ncclResult_t, CommCuDevice, (const ncclComm_t comm, int* device));
NCCL_DECLARE(ncclResult_t, CommUserRank, (const ncclComm_t comm, int* rank));
NCCL_DECLARE(ncclResult_t, CommRegister, (const ncclComm_t comm, void* buff, size_t size, void** handle));
NCCL_DECLARE(ncclResult_t, CommDeregister, (const ncclComm_t comm, void* handle));
NCCL_DECLARE(ncclResult_t, CommWindowRegister,
             (ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int winFlags));
NCCL_DECLARE(ncclResult_t, CommWindowDeregister, (ncclComm_t comm, ncclWindow_t win));
NCCL_DECLARE(ncclResult_t, RedOpCreatePreMulSum,
             (ncclRedOp_t * op, void* scalar, ncclDataType_t datatype, ncclScalarResidence_t residence,
              ncclComm_t comm));
NCCL_DECLARE(ncclResult_t, RedOpDestroy, (ncclRedOp_t op, ncclComm_t comm));
NCCL_DECLARE(ncclResult_t, Reduce,
             (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
              int root, ncclComm_t comm, cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, Bcast,
             (void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
              cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, Broadcast,
             (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
              ncclComm_t comm, cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, AllReduce,
             (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
              ncclComm_t comm, cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, ReduceScatter,
             (void const* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype, ncclRedOp_t op,
              ncclComm_t comm, cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, AllGather,
             (void const* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
              ncclComm_t comm, cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, AlltoAll,
             (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclComm_t comm,
              cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, Gather,
             (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
              ncclComm_t comm, cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, Scatter,
             (void const* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
              ncclComm_t comm, cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, Send,
             (void const* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
              cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, Recv,
             (void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
              cudaStream_t stream));
NCCL_DECLARE(ncclResult_t, GroupStart, (void));
NCCL_DECLARE(ncclResult_t, GroupEnd, (void));
NCCL_DECLARE(ncclResult_t, GroupSimulateEnd, (ncclSimInfo_t * simInfo));

#undef NCCL_DECLARE

#ifdef __cplusplus
}
#endif
#endif
