/// What the library throws. Every message names the argument (or the packet field) and its value.
///
/// The type says who is at fault: the caller (invalid_argument) or the sender of a packet (bad_packet).
///. Nothing is half-written when a call throws: outputs are checked
/// before the first store.
#pragma once

#include <stdexcept>

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

}  // namespace bird
