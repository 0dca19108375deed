#include "report_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>

namespace bird::trainer {

std::string count_text(std::uint64_t count)
{
  std::string text = fmt::format("{}", count);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, 1, ',');
  }
  return text;
}

std::string number_text(double value) { return fmt::format("{:.4g}", value); }

std::string bytes_text(double bytes)
{
  if (!(bytes >= 1e6)) {
    return std::isfinite(bytes) ? count_text(static_cast<std::uint64_t>(std::llround(bytes))) + " B" : "-";
  }
  char const* const units[] = {"MB", "GB", "TB"};
  double value              = bytes / 1e6;
  std::size_t unit          = 0;
  while (value >= 999.5 && unit < 2) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[unit]);
}

std::string seconds_text(double seconds)
{
  if (!std::isfinite(seconds)) {
    return "-";
  }
  if (seconds < 99.95) {
    return fmt::format("{:.{}f} s", seconds, seconds < 9.995 ? 2 : 1);
  }
  auto const whole = static_cast<std::uint64_t>(std::llround(seconds));
  return whole < 3600 ? fmt::format("{} min {} s", whole / 60, whole % 60)
                      : fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string percent_text(double share)
{
  return std::isfinite(share) ? fmt::format("{:.2f} %", 100 * share) : "-";
}

std::string fraction_text(double part, double whole)
{
  if (!(part > 0) || !(whole > 0)) {
    return "-";
  }
  double const times = whole / part;
  if (times > 1.05) {
    return fmt::format("1/{:.{}f}", times, times < 9.95 ? 1 : 0);
  }
  return times > 0.95 ? "as many" : fmt::format("{:.1f} times", 1 / times);
}

namespace {

/// Length of the UTF-8 sequence at the front, or 0 if there is no sound one.
std::size_t sequence_length(std::string_view text)
{
  auto const byte          = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char const lead = byte(0);
  std::size_t const length = lead < 0x80   ? 1
                             : lead < 0xC2 ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) {
      return 0;
    }
  }
  bool const overlong  = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  bool const surrogate = lead == 0xED && byte(1) >= 0xA0;
  bool const too_large = lead == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text)
{
  constexpr char const* replacement = "\xEF\xBF\xBD";
  std::string result;
  while (!text.empty()) {
    std::size_t const length = sequence_length(text);
    char const first         = text.front();
    bool const control =
      length == 1 && static_cast<unsigned char>(first) < 0x20 && first != '\n' && first != '\t';
    switch (first) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        if (length == 0 || control || first == '\x7F') {
          result += replacement;
        } else {
          result += text.substr(0, length);
        }
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

}  // namespace bird::trainer
