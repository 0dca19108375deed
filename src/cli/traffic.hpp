/// traffic: bytes that were sent, beside those that a dense run would have sent.
#pragma once

#include <cstdint>
#include <string>

namespace bird::cli {

/// "8.31 MB (1/19 of dense)"; without a fraction where as much was sent.
[[nodiscard]] std::string traffic_text(std::uint64_t bytes, std::uint64_t dense_bytes);

}  // namespace bird::cli
