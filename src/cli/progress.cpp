#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "report_text.hpp"
#include "traffic.hpp"

namespace bird::cli {
namespace {

constexpr std::size_t bar_cells    = 16;
constexpr std::size_t plain_column = 80;  ///< width of a terminal that does not say

std::string bar(double share)
{
  auto const full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * bar_cells + 0.5);
  return "[" + std::string(full, '=') + std::string(bar_cells - full, ' ') + "]";
}

std::string time_left(trainer::progress const& now)
{
  if (now.step == 0) {
    return "";
  }
  double const left = now.seconds / static_cast<double>(now.step) * static_cast<double>(now.steps - now.step);
  return fmt::format(", {} left", trainer::seconds_text(left));
}

std::string numbers(trainer::progress const& now)
{
  return fmt::format("loss {:.3f}, test {:.2f} %, up {}, down {}, {:.0f} images/s", now.loss,
                     100 * now.test_accuracy, traffic_text(now.bytes_up, now.dense_bytes_up),
                     traffic_text(now.bytes_down, now.dense_bytes_down), now.examples_per_second);
}

/// For terminals that the full line does not fit: shares of dense instead of bytes, and no bar.
std::string few_numbers(trainer::progress const& now)
{
  auto const share = [](std::uint64_t bytes, std::uint64_t dense) {
    return trainer::fraction_text(static_cast<double>(bytes), static_cast<double>(dense));
  };
  return fmt::format("loss {:.3f} test {:.1f} % up {} down {} {:.0f} images/s", now.loss,
                     100 * now.test_accuracy, share(now.bytes_up, now.dense_bytes_up),
                     share(now.bytes_down, now.dense_bytes_down), now.examples_per_second);
}

std::size_t terminal_columns(std::FILE* out)
{
  winsize size = {};
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : plain_column;
}

bool is_set(char const* name)
{
  char const* const value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

progress_style style_for(std::FILE* out)
{
  char const* const terminal = std::getenv("TERM");
  if (isatty(fileno(out)) == 0 || terminal == nullptr || std::strcmp(terminal, "dumb") == 0) {
    return progress_style::plain;
  }
  return is_set("NO_COLOR") ? progress_style::live : progress_style::live_colored;
}

progress_line::~progress_line()
{
  if (line_open_) {
    clear_line();
    std::fflush(out_);
  }
}

void progress_line::clear_line()
{
  fmt::print(out_, "\r\x1b[K");
  line_open_ = false;
}

void progress_line::note(std::string const& line)
{
  if (style_ == progress_style::silent) {
    return;
  }
  if (line_open_) {
    clear_line();
  }
  fmt::print(out_, "{}\n", line);
  std::fflush(out_);
}

void progress_line::on_progress(trainer::progress const& now)
{
  if (style_ == progress_style::silent) {
    return;
  }
  // The count of digits of the last epoch keeps the columns in place.
  auto const width        = fmt::format("{}", now.epochs).size();
  std::string const epoch = fmt::format("epoch {:{}.1f}/{}", now.epoch, width + 2, now.epochs);
  if (now.tested && now.step > 0) {
    note(fmt::format("{}  {}", epoch, numbers(now)));
  }
  if (style_ == progress_style::plain || now.step == now.steps) {
    return;
  }
  double const share     = static_cast<double>(now.step) / static_cast<double>(now.steps);
  std::string line       = fmt::format("{} {} {}{}", bar(share), epoch, numbers(now), time_left(now));
  std::size_t const room = terminal_columns(out_) - 1;  // a line that wraps could not be rewritten
  if (line.size() > room) {
    line = fmt::format("{} {}{}", epoch, few_numbers(now), time_left(now));
  }
  line.resize(std::min(line.size(), room));
  bool const colored = style_ == progress_style::live_colored;
  fmt::print(out_, "\r{}{}{}\x1b[K", colored ? "\x1b[36m" : "", line, colored ? "\x1b[0m" : "");
  std::fflush(out_);
  line_open_ = true;
}

}  // namespace bird::cli
