/// report_text: numbers as people read them, and strings made safe for a page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bird::trainer {

/// "940,584 B", "1.61 MB", "23.4 GB": decimal units, three digits.
[[nodiscard]] std::string bytes_text(double bytes);
/// "0.42 s", "58.1 s", "4 min 12 s", "1 h 3 min".
[[nodiscard]] std::string seconds_text(double seconds);
/// "88.19 %" of a share of 1.
[[nodiscard]] std::string percent_text(double share);
/// How many times less: "1/19", "1/2.4", "as many" from 0.95 to 1.05, "1.3 times" above; "-" without a dense.
[[nodiscard]] std::string fraction_text(double part, double whole);
/// "1,716" with a comma every three digits.
[[nodiscard]] std::string count_text(std::uint64_t count);
/// Up to four significant digits, no trailing zeros.
[[nodiscard]] std::string number_text(double value);

/// Text for HTML and SVG, in elements and in quoted attributes. Bytes that XML or UTF-8 do not allow
/// become U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace bird::trainer
