/// Sizes of the samplers that their host side must know as well.
#pragma once

#include <cstdint>

namespace bird::device {

inline constexpr std::uint32_t select_bins = 2048;  ///< 11 bits

}  // namespace bird::device
