/// What the library throws. Every message names the argument (or the packet field) and its value.
///
/// The type says who is at fault: the caller (invalid_argument), the sender of a packet (bad_packet) or the
/// device (cuda_error). Nothing is half-written when a call throws: outputs are checked before the first
/// store.
#pragma once

#include <stdexcept>
#include <string>

#include "bird/api.h"

namespace bird BIRD_API {

/// The caller passed a value that the call cannot take.
struct invalid_argument : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// The bytes are not a packet of a version that this library reads, or they were damaged.
struct bad_packet : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A call of the CUDA runtime failed. What it had enqueued before the failure may still run.
struct cuda_error : std::runtime_error {
  cuda_error(int status, std::string const& what) : std::runtime_error{what}, code{status} {}
  int code;  ///< the runtime's cudaError_t
};

}  // namespace bird
