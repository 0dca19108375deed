/// How a function of the interface is defined: under both of its names, without letting an exception out.
///
///   LOOPBACK_FUNCTION(ncclResult_t, CommCount, (ncclComm_t const comm, int* count))
///   {
///     return loopback::entered([&] { ... return ncclSuccess; });
///   }
///
/// pncclX is the function; ncclX is weak and may be interposed. Inside the library ncclX is called where NCCL
/// itself calls its exported name.
#pragma once

#include <exception>

#include "faults.hpp"
#include "group.hpp"

#define LOOPBACK_FUNCTION(result, name, parameters)                                \
  extern "C" __attribute__((visibility("default"))) result pnccl##name parameters; \
  extern "C" __attribute__((weak, alias("pnccl" #name), visibility("default")))    \
  result nccl##name parameters; /* NOLINT: an alias */                             \
  extern "C" result pnccl##name parameters

namespace loopback {

inline ncclResult_t failed(failure const& error)
{
  note_error(std::string(error.what()) + " (" + ncclGetErrorString(error.code) + ")");
  if (group::is_open()) {
    group::note(error);
  }
  return error.code;
}

/// How deep this thread is in calls of the library: those that it makes itself are not counted by plans.
struct call_depth {
  static int& of_thread()
  {
    thread_local int depth = 0;
    return depth;
  }
  call_depth() { ++of_thread(); }
  ~call_depth() { --of_thread(); }
  call_depth(call_depth const&)            = delete;
  call_depth& operator=(call_depth const&) = delete;
};

/// Runs the body of a function of the interface, or fails as planned.
template <class Body>
ncclResult_t entered(Body const& body) noexcept
{
  call_depth const inside;
  try {
    try {
      ncclResult_t const planned = call_depth::of_thread() == 1 ? faults::next_call() : ncclSuccess;
      if (planned != ncclSuccess) {
        throw failure(planned, "a planned failure of a call");
      }
      return body();
    } catch (failure const& error) {
      return failed(error);
    } catch (std::exception const& error) {
      return failed(failure(ncclSystemError, error.what()));
    }
  } catch (...) {
    return ncclInternalError;
  }
}

template <class T>
T& required(T* pointer, char const* name)
{
  if (pointer == nullptr) {
    throw failure(ncclInvalidArgument, std::string(name) + " is NULL");
  }
  return *pointer;
}

}  // namespace loopback
