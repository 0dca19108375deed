/// Where a call's work is enqueued. Always the last argument, and never defaulted.
#pragma once

#include "bird/api.h"

struct CUstream_st;  // cudaStream_t is a pointer to it; no CUDA header is needed to name one

namespace bird BIRD_API {

/// A CUDA stream, or the calling thread for tensors in host memory.
class stream_ref {
 public:
  /// Work is enqueued on a CUDA stream, and the call returns without waiting for it.
  constexpr stream_ref(CUstream_st* stream) noexcept : handle_{stream}, host_{false} {}
  stream_ref(int)               = delete;  // 0 is the legacy default stream in disguise
  stream_ref(decltype(nullptr)) = delete;

  [[nodiscard]] constexpr CUstream_st* get() const noexcept { return handle_; }
  /// True for on_host: the work is done, with OpenMP's threads, when the call returns.
  [[nodiscard]] constexpr bool is_host() const noexcept { return host_; }

 private:
  struct host_tag {};
  constexpr explicit stream_ref(host_tag) noexcept : handle_{nullptr}, host_{true} {}
  friend constexpr stream_ref make_host_stream() noexcept;

  CUstream_st* handle_;
  bool host_;
};

constexpr stream_ref make_host_stream() noexcept { return stream_ref{stream_ref::host_tag{}}; }

/// The stream of host tensors.
inline constexpr stream_ref on_host = make_host_stream();

}  // namespace bird
