/// What communicators say of themselves; errors; memory and registrations; what tests ask beyond NCCL.
#include <fstream>

#include "entry.hpp"
#include "loopback.h"
#include "streams.hpp"
#include "traffic.hpp"

using namespace loopback;

namespace {

/// @throws failure for a communicator that still joins
communicator_ref find_ready(ncclComm_t handle)
{
  communicator_ref found = find(handle);
  if (!found->ready) {
    throw failure(ncclInvalidArgument, "the communicator is still in progress");
  }
  return found;
}

}  // namespace

LOOPBACK_FUNCTION(ncclResult_t, CommCount, (ncclComm_t const comm, int* count))
{
  return entered([&] {
    required(count, "count") = find_ready(comm)->nranks;
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommUserRank, (ncclComm_t const comm, int* rank))
{
  return entered([&] {
    required(rank, "rank") = find_ready(comm)->rank;
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommCuDevice, (ncclComm_t const comm, int* device))
{
  return entered([&] {
    required(device, "device") = find_ready(comm)->device;
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommGetAsyncError, (ncclComm_t comm, ncclResult_t* asyncError))
{
  return entered([&] {
    required(asyncError, "asyncError") = find(comm)->poll();
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(char const*, GetErrorString, (ncclResult_t result))
{
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

LOOPBACK_FUNCTION(char const*, GetLastError, (ncclComm_t comm))
{
  thread_local std::string text;
  try {
    // As in NCCL it is the process's last; a communicator's own, where it has one, says more.
    text = comm != nullptr ? find(comm)->last_error() : std::string();
  } catch (failure const&) {
    text.clear();
  }
  if (text.empty()) {
    text = noted_error();
  }
  return text.c_str();
}

LOOPBACK_FUNCTION(ncclResult_t, MemAlloc, (void** ptr, size_t size))
{
  return entered([&] {
    required(ptr, "ptr") = nullptr;
    bool const fails     = call_depth::of_thread() == 1 && faults::next_allocation_fails();
    void* const memory   = fails ? nullptr : streams::allocate(size);
    if (memory == nullptr) {
      throw failure(ncclUnhandledCudaError, "no memory for " + std::to_string(size) + " bytes");
    }
    *ptr = memory;
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, MemFree, (void* ptr))
{
  return entered([&] {
    streams::release(ptr);
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommRegister, (ncclComm_t const comm, void* buff, size_t size, void** handle))
{
  return entered([&] {
    communicator_ref const found = find(comm);
    required(handle, "handle");
    if (buff == nullptr || size == 0) {
      throw failure(ncclInvalidArgument, "a buffer of no bytes");
    }
    *handle = found->add_registration();
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommDeregister, (ncclComm_t const comm, void* handle))
{
  return entered([&] {
    find(comm)->remove_registration(handle);
    return ncclSuccess;
  });
}

LOOPBACK_FUNCTION(ncclResult_t, CommWindowRegister,
                  (ncclComm_t comm, void* buff, size_t size, ncclWindow_t* win, int winFlags))
{
  if (winFlags != NCCL_WIN_DEFAULT && winFlags != NCCL_WIN_COLL_SYMMETRIC) {
    return entered([&]() -> ncclResult_t {
      throw failure(ncclInvalidArgument, "winFlags is " + std::to_string(winFlags));
    });
  }
  return ncclCommRegister(comm, buff, size, reinterpret_cast<void**>(win));
}

LOOPBACK_FUNCTION(ncclResult_t, CommWindowDeregister, (ncclComm_t comm, ncclWindow_t win))
{
  return ncclCommDeregister(comm, win);
}

#define LOOPBACK_EXPORT extern "C" __attribute__((visibility("default")))

LOOPBACK_EXPORT ncclResult_t loopbackPlanFaults(char const* faults)
{
  try {
    faults::plan(faults == nullptr ? "" : faults);
    return ncclSuccess;
  } catch (failure const& error) {
    note_error(error.what());
    return error.code;
  }
}

LOOPBACK_EXPORT ncclResult_t loopbackGetTraffic(ncclComm_t comm, char const* function, loopbackTraffic* out)
{
  try {
    required(out, "traffic") =
      comm == nullptr ? traffic::sum_of_process(function) : find_ready(comm)->sent->sum(function);
    return ncclSuccess;
  } catch (failure const& error) {
    note_error(error.what());
    return error.code;
  }
}

LOOPBACK_EXPORT ncclResult_t loopbackWriteReport(char const* path)
{
  std::ofstream file(path == nullptr ? "" : path);
  file << traffic::report();
  return file.flush() ? ncclSuccess : ncclSystemError;
}

LOOPBACK_EXPORT ncclResult_t loopbackStreamSynchronize(cudaStream_t stream)
{
  streams::synchronize(stream);
  return ncclSuccess;
}

LOOPBACK_EXPORT ncclResult_t loopbackSetDevice(int device)
{
  set_thread_device(device);
  return ncclSuccess;
}

LOOPBACK_EXPORT int loopbackLiveCommunicators(void) { return live_handles(); }
