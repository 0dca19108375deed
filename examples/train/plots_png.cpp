/// plots: charts as PNG. The layout is the one of the SVG; gnuplot only paints it.
///
/// The program's text goes to gnuplot by a file and the picture comes back on its standard output, so that
/// no name of a file has to be quoted.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "plots.hpp"
#include "plots_layout.hpp"
#include "plots_palette.hpp"

extern char** environ;

namespace bird::trainer {
namespace {

constexpr double pixels_per_unit = 2;

/// In gnuplot's single quotes only the quote itself means something; a line break would end the command.
std::string quoted(std::string const& text)
{
  std::string result = "'";
  for (char const c : text) {
    result += c == '\'' ? "''" : static_cast<unsigned char>(c) < 0x20 ? std::string{" "} : std::string{c};
  }
  return result + "'";
}

char const* colour_of(plot_ink ink)
{
  return ink == plot_ink::ours   ? light_palette.ours
         : ink == plot_ink::peer ? light_palette.peer
                                 : light_palette.neutral;
}

/// Collects one `plot` command, whose parts are painted in the order of the calls.
class gnuplot_canvas final : public plot_canvas {
 public:
  gnuplot_canvas(std::size_t chart, std::size_t charts) : chart_{chart}, charts_{charts} {}

  [[nodiscard]] std::string script() const
  {
    return fmt::format(
      "reset\nset origin {0:.6f},0\nset size {1:.6f},1\n"
      "set lmargin 0\nset rmargin 0\nset tmargin 0\nset bmargin 0\n"
      "unset key\nunset border\nunset tics\nset xrange [0:{2}]\nset yrange [{3}:0]\n{4}{5}plot {6}\n",
      static_cast<double>(chart_) / static_cast<double>(charts_), 1.0 / static_cast<double>(charts_),
      plot_width, plot_height, blocks_, labels_, plots_);
  }

 private:
  void text(plot_text kind, plot_ink ink, paper_point at, plot_anchor anchor,
            std::string const& content) override
  {
    char const* const anchors[] = {"left", "center", "right"};
    char const* const colour    = kind == plot_text::title  ? light_palette.ink
                                  : kind == plot_text::tick ? light_palette.quiet
                                                            : colour_of(ink);
    // gnuplot centres a label on its point, SVG stands it on a base line: a third of its height apart.
    labels_ += fmt::format("set label {} at {:.1f},{:.1f} {} front textcolor rgb '{}' font ',{}'\n",
                           quoted(content), at.x, at.y - plot_text_height / 3,
                           anchors[static_cast<int>(anchor)], colour, kind == plot_text::title ? 10 : 9);
  }

  void rule(plot_rule kind, paper_point from, paper_point to) override
  {
    char const* const colour = kind == plot_rule::grid ? light_palette.grid : light_palette.axis;
    add({from, to},
        fmt::format("with lines lc rgb '{}' lw 2{}", colour, kind == plot_rule::level ? " dt 3" : ""));
  }

  void line(plot_ink ink, bool dashed, std::vector<paper_point> const& points) override
  {
    add(points, fmt::format("with lines lc rgb '{}' lw 4{}", colour_of(ink), dashed ? " dt 2" : ""));
  }

  void dot(plot_ink ink, paper_point at, std::string const& /*note*/) override
  {
    add({at}, fmt::format("with points pt 7 ps 1.5 lc rgb '{}'", colour_of(ink)));
  }

  void add(std::vector<paper_point> const& points, std::string const& how)
  {
    std::string const name = fmt::format("$chart{}_{}", chart_, count_++);
    blocks_ += name + " << END\n";
    for (paper_point const& point : points) {
      blocks_ += fmt::format("{:.1f} {:.1f}\n", point.x, point.y);
    }
    blocks_ += "END\n";
    plots_ += fmt::format("{}{} {}", plots_.empty() ? "" : ", ", name, how);
  }

  std::size_t chart_, charts_;  ///< which of how many side by side
  int count_ = 0;
  std::string blocks_, labels_, plots_;
};

std::string script_of(span<plot const> charts)
{
  auto const count   = static_cast<double>(charts.size());
  std::string script = fmt::format(
    "set terminal pngcairo noenhanced size {:.0f},{:.0f} fontscale {} background rgb '{}'\nset multiplot\n",
    count * plot_width * pixels_per_unit, plot_height * pixels_per_unit, pixels_per_unit,
    light_palette.surface);
  for (std::size_t i = 0; i < charts.size(); ++i) {
    gnuplot_canvas canvas{i, charts.size()};
    draw(charts[i], canvas);
    script += canvas.script();
  }
  return script + "unset multiplot\n";
}

struct closes {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using temporary = std::unique_ptr<std::FILE, closes>;

/// Runs gnuplot with these files as its three streams. @returns empty, or what went wrong
std::string run_gnuplot(int input, int output, int errors)
{
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  char program[]    = "gnuplot";
  char* arguments[] = {program, nullptr};
  pid_t child       = 0;
  int const failure = posix_spawnp(&child, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return failure == ENOENT ? "gnuplot is not installed (Debian: gnuplot-nox)"
                             : fmt::format("gnuplot does not start: {}", std::strerror(failure));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "" : "gnuplot failed";
}

std::string first_line(std::FILE* file)
{
  char line[200] = "";
  std::rewind(file);
  while (std::fgets(line, sizeof line, file) != nullptr) {
    std::string text{line};
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    if (!text.empty()) {
      return text;
    }
  }
  return "no message";
}

}  // namespace

std::string write_png(span<plot const> charts, std::filesystem::path const& file)
{
  temporary const script{std::tmpfile()}, errors{std::tmpfile()};
  auto const beside = file.string() + ".part";
  temporary picture{std::fopen(beside.c_str(), "w+b")};
  if (!script || !errors || !picture) {
    return fmt::format("{} cannot be written: {}", beside, std::strerror(errno));
  }
  std::string const text = script_of(charts);
  std::fwrite(text.data(), 1, text.size(), script.get());
  std::rewind(script.get());  // writes what is buffered, too
  std::string failure = run_gnuplot(fileno(script.get()), fileno(picture.get()), fileno(errors.get()));
  if (failure == "gnuplot failed") {
    failure += ": " + first_line(errors.get());
  }
  char magic[8] = {};
  std::rewind(picture.get());
  if (failure.empty() &&
      (std::fread(magic, 1, 8, picture.get()) != 8 || std::memcmp(magic, "\x89PNG", 4) != 0)) {
    failure = "gnuplot wrote no PNG: " + first_line(errors.get());
  }
  picture.reset();
  std::error_code error;
  if (failure.empty()) {
    std::filesystem::rename(beside, file, error);
    failure = error ? fmt::format("{} cannot be written: {}", file.string(), error.message()) : "";
  }
  if (!failure.empty()) {
    std::filesystem::remove(beside, error);
  }
  return failure;
}

}  // namespace bird::trainer
