#include "traffic.hpp"

#include <fmt/format.h>

#include "report_text.hpp"

namespace bird::cli {

std::string traffic_text(std::uint64_t bytes, std::uint64_t dense_bytes)
{
  auto const sent = static_cast<double>(bytes), dense = static_cast<double>(dense_bytes);
  std::string const text = trainer::bytes_text(sent);
  return bytes == 0 || bytes == dense_bytes
           ? text
           : fmt::format("{} ({} of dense)", text, trainer::fraction_text(sent, dense));
}

}  // namespace bird::cli
