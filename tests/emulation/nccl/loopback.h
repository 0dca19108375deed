/// What tests ask of the loopback beyond NCCL's own interface: faults, accounting, streams without CUDA.
/// A program that is not linked to it finds these by dlsym. All is per process.
#pragma once

#include <stdint.h>

#include <nccl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Plans faults, and forgets those planned before; NULL or "": none. At the start: LOOPBACK_FAULTS.
 * One or more of these, separated by commas; operations are numbered from 1 on each communicator:
 *
 *   fail:N:CODE         the N-th call from now that returns a result (1: the next) returns CODE, does nothing
 *   memory:N            the N-th ncclMemAlloc from now fails with ncclUnhandledCudaError
 *   polls:N             non-blocking communicators are in progress for N polls after init and operations
 *   async:RANK:OP:CODE  the rank has this asynchronous error instead of running its operation OP
 *   kill:RANK:OP        SIGKILL to the process of the rank as it starts OP
 *   die:RANK:OP         the rank counts as dead from there on: for ranks that are threads
 *   stall:RANK:OP       OP never ends on the rank, until it aborts
 *   slow:RANK:MS        each operation of the rank starts so much later
 *   corrupt:RANK:OP     what the rank sends in OP is inverted
 *
 * @returns ncclInvalidArgument for anything else, and then plans nothing */
ncclResult_t loopbackPlanFaults(char const* faults);

/* What a rank sent by one kind of call ("ncclAllReduce", ...; NULL: by all). comm NULL: all of this process.
 */
struct loopbackTraffic {
  uint64_t calls;
  uint64_t payload_bytes; /* count * size of the type */
  uint64_t wire_bytes;    /* sent to other ranks: by a ring where there is one */
};
ncclResult_t loopbackGetTraffic(ncclComm_t comm, char const* function, struct loopbackTraffic* traffic);
/* The same as JSON to a file; at exit: LOOPBACK_REPORT names it, %p in it is the process id. */
ncclResult_t loopbackWriteReport(char const* path);

/* Streams without CUDA: any handle but NULL is an ordered queue of its own for each device; NULL is the
 * calling thread. Waits until what was given to the stream has ended. */
ncclResult_t loopbackStreamSynchronize(cudaStream_t stream);
/* The device that this thread's next communicators are on, as cudaSetDevice; without: that of their rank. */
ncclResult_t loopbackSetDevice(int device);

/* Handles that exist now, to find leaks. */
int loopbackLiveCommunicators(void);

#ifdef __cplusplus
}
#endif
