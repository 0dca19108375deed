/// report: report.json and the files of a report.
#include "report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "bird/bird.h"
#include "report_plots.hpp"

namespace bird::trainer {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(compressor_options const& codec)
{
  return {{"sampling", to_string(codec.sampling)},
          {"values", to_string(codec.values)},
          {"index", to_string(codec.index)},
          {"norm", to_string(codec.norm)},
          {"tile", codec.tile},
          {"ratio", codec.ratio},
          {"gamma", codec.gamma}};
}

ordered_json json_of(train_options const& options)
{
  auto const optional = [](std::optional<double> const& value) {
    return value ? ordered_json(*value) : ordered_json(nullptr);
  };
  return {{"model", to_string(options.model)},
          {"method", to_string(options.method)},
          {"preset", options.preset},
          {"codec", json_of(options.codec)},
          {"feedback", to_string(options.feedback)},
          {"reply_ratio", optional(options.reply_ratio)},
          {"dense_reply", options.dense_reply},
          {"companion_bias", options.companion_bias},
          {"workers", options.workers},
          {"epochs", options.epochs},
          {"batch", options.batch},
          {"learning_rate", optional(options.learning_rate)},
          {"momentum", options.momentum},
          {"seed", options.seed},
          {"sync", to_string(options.sync)},
          {"groups", options.groups},
          {"period", options.period},
          {"local_steps", options.local_steps},
          {"link_mbps", options.link_mbps},
          {"skew", options.skew},
          {"train_limit", options.train_limit},
          {"test_limit", options.test_limit},
          {"data", options.data.string()},
          {"output", options.output.string()},
          {"dump_gradients", options.dump_gradients.string()}};
}

ordered_json json_of(curve_point const& point)
{
  return {{"epoch", point.epoch},       {"step", point.step},
          {"loss", point.loss},         {"test_accuracy", point.test_accuracy},
          {"bytes_up", point.bytes_up}, {"bytes_down", point.bytes_down},
          {"seconds", point.seconds}};
}

std::string reason() { return std::strerror(errno); }

}  // namespace

std::string report_json(train_options const& options, train_result const& result)
{
  ordered_json curve = ordered_json::array();
  for (curve_point const& point : result.curve) {
    curve.push_back(json_of(point));
  }
  ordered_json const report{{"version", bird_version()},
                            {"method", result.method},
                            {"codec", result.codec},
                            {"model", result.model},
                            {"sync", result.sync},
                            {"seed", result.seed},
                            {"workers", result.workers},
                            {"epochs", result.epochs},
                            {"local_steps", result.local_steps},
                            {"parameters", result.parameters},
                            {"steps", result.steps},
                            {"rounds", result.rounds},
                            {"test_accuracy", result.test_accuracy},
                            {"loss", result.loss},
                            {"bytes_up", result.bytes_up},
                            {"bytes_down", result.bytes_down},
                            {"dense_bytes_up", result.dense_bytes_up},
                            {"dense_bytes_down", result.dense_bytes_down},
                            {"bytes_between_servers", result.bytes_between_servers},
                            {"seconds", result.seconds},
                            {"seconds_gradient", result.split.gradient},
                            {"seconds_codec", result.split.codec},
                            {"seconds_link", result.split.link},
                            {"examples_per_second", result.examples_per_second},
                            {"state_bytes", result.state_bytes},
                            {"server_state_bytes", result.server_state_bytes},
                            {"omega", result.omega},
                            {"reply_omega", result.reply_omega},
                            {"learning_rate", result.learning_rate},
                            {"link_mbps", result.link_mbps},
                            {"interrupted", result.interrupted},
                            {"diverged", result.diverged},
                            {"advice", result.advice},
                            {"curve", curve},
                            {"options", json_of(options)}};
  // A path may hold bytes that are no UTF-8: they are replaced, not a reason to lose the report.
  return report.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void write_file(std::filesystem::path const& file, std::string const& contents)
{
  std::string const beside = file.string() + ".part";
  std::FILE* const out     = std::fopen(beside.c_str(), "wb");
  if (out == nullptr) {
    throw unwritable{fmt::format("{} cannot be written: {}", file.string(), reason())};
  }
  bool const written = std::fwrite(contents.data(), 1, contents.size(), out) == contents.size() &&
                       std::fflush(out) == 0 && fsync(fileno(out)) == 0;
  std::string const why = reason();
  bool const closed     = std::fclose(out) == 0;
  if (!written || !closed || std::rename(beside.c_str(), file.c_str()) != 0) {
    std::string const message =
      fmt::format("{} cannot be written: {}", file.string(), written ? reason() : why);
    std::remove(beside.c_str());
    throw unwritable{message};
  }
}

void prepare_output(std::filesystem::path const& directory)
{
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error || !std::filesystem::is_directory(directory, error)) {
    throw unwritable{fmt::format("output folder {} cannot be made: {}", directory.string(),
                                 error ? error.message() : "there is a file of that name")};
  }
  std::filesystem::path const probe = directory / ".bird-probe";
  std::FILE* const file             = std::fopen(probe.c_str(), "wb");
  if (file == nullptr) {
    throw unwritable{fmt::format("output folder {} cannot be written: {}", directory.string(), reason())};
  }
  std::fclose(file);
  std::filesystem::remove(probe, error);
}

std::string write_png_beside(span<plot const> charts, std::filesystem::path const& file,
                             std::vector<std::filesystem::path>& files)
{
  std::string const failure = write_png(charts, file);
  if (failure.empty()) {
    files.push_back(file);
    return "";
  }
  std::error_code error;
  std::filesystem::remove(file, error);
  return fmt::format("{} is not written: {}", file.filename().string(), failure);
}

written_report write_report(train_options const& options, train_result const& result)
{
  prepare_output(options.output);
  auto const charts = report_plots(result);
  written_report written;
  auto const write = [&](char const* name, std::string const& contents) {
    write_file(options.output / name, contents);
    written.files.push_back(options.output / name);
  };
  write("report.json", report_json(options, result));
  write("curves.svg", svg_document(charts));
  write("report.html", report_html(options, result));
  written.note = write_png_beside(charts, options.output / "curves.png", written.files);
  return written;
}

}  // namespace bird::trainer
