/// quantities: numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace bird::cli {

[[nodiscard]] std::string bytes_text(std::uint64_t bytes);  ///< "940 B", "27.8 kB", "1.26 GB"

/// How a compressed run relates to a dense one: "1/19 of dense", "dense".
[[nodiscard]] std::string share_text(std::uint64_t bytes, std::uint64_t dense_bytes);

[[nodiscard]] std::string seconds_text(double seconds);  ///< "41 s", "3:25 min", "1:02:10 h"

}  // namespace bird::cli
