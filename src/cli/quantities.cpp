#include "quantities.hpp"

#include <fmt/format.h>

namespace bird::cli {

std::string bytes_text(std::uint64_t bytes)
{
  constexpr char const* units[] = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) {
    return fmt::format("{} B", bytes);
  }
  auto value       = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit) {
    value /= 1000;
  }
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, units[unit]);
}

std::string share_text(std::uint64_t bytes, std::uint64_t dense_bytes)
{
  if (bytes == 0 || bytes >= dense_bytes) {
    return "dense";
  }
  double const factor = static_cast<double>(dense_bytes) / static_cast<double>(bytes);
  return fmt::format("1/{:.{}f} of dense", factor, factor < 10 ? 1 : 0);
}

std::string seconds_text(double seconds)
{
  auto const whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 100) {
    return fmt::format("{} s", whole);
  }
  if (whole < 3600) {
    return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  }
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace bird::cli
