/// compare_report: the contents of all forms of the report.
#include "compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bird/bird.h"
#include "compare_winners.hpp"
#include "report_text.hpp"

namespace bird::trainer {
namespace {

using nlohmann::ordered_json;

constexpr double accuracy_margins[] = {0.5, 1, 2};
constexpr double byte_divisors[]    = {10, 30, 100, 300};

std::string link_text(double megabits)
{
  return megabits == 0      ? "not limited"
         : megabits >= 1000 ? fmt::format("{:.4g} Gb/s", megabits / 1000)
                            : fmt::format("{:.4g} Mb/s", megabits);
}

std::string link_key(double megabits)
{
  return megabits == 0 ? "unlimited" : fmt::format("{:.0f}_mbps", megabits);
}

double per_message(contender_result const& one, double bytes) { return bytes / std::max(1.0, one.messages); }

ordered_json json_of(comparison const& all, contender_result const& one)
{
  ordered_json tried = ordered_json::array();
  for (auto const& [rate, accuracy] : one.tried) {
    tried.push_back({{"learning_rate", rate}, {"held_out_accuracy", accuracy}});
  }
  ordered_json projected;
  for (double const megabits : projected_links) {
    projected[link_key(megabits)] = projected_seconds(one, megabits);
  }
  return {{"name", one.name},
          {"method", one.method},
          {"codec", one.codec},
          {"learning_rate", one.learning_rate},
          {"tried", tried},
          {"test_accuracy", one.accuracy()},
          {"test_accuracies", one.accuracies},
          {"diverged", one.diverged},
          {"bytes_up", one.bytes_up},
          {"bytes_down", one.bytes_down},
          {"dense_bytes_up", one.dense_bytes_up},
          {"dense_bytes_down", one.dense_bytes_down},
          {"bytes_up_per_message", per_message(one, one.bytes_up)},
          {"bytes_down_per_message", per_message(one, one.bytes_down)},
          {"times_fewer_bytes", counted_dense_bytes(all, one) / std::max(1.0, counted_bytes(all, one))},
          {"seconds", one.seconds},
          {"seconds_gradient", one.gradient_seconds},
          {"seconds_codec", one.codec_seconds},
          {"projected_seconds", projected},
          {"state_bytes", one.state_bytes},
          {"server_state_bytes", one.server_state_bytes},
          {"omega", one.omega},
          {"reply_omega", one.reply_omega}};
}

std::string fastest(comparison const& all, double megabits)
{
  auto const best =
    std::min_element(all.results.begin(), all.results.end(), [&](auto const& a, auto const& b) {
      return projected_seconds(a, megabits) < projected_seconds(b, megabits);
    });
  std::string text =
    fmt::format("Time, link {}: the shortest run is {}'s, {} for {}", link_text(megabits), best->name,
                seconds_text(projected_seconds(*best, megabits)), percent_text(best->accuracy()));
  auto const dense = std::find_if(all.results.begin(), all.results.end(),
                                  [](contender_result const& one) { return one.sends_floats; });
  if (dense != all.results.end() && dense != best) {
    text += fmt::format("; dense takes {} for {}", seconds_text(projected_seconds(*dense, megabits)),
                        percent_text(dense->accuracy()));
  }
  return text + ".";
}

}  // namespace

std::vector<std::string> comparison_verdicts(comparison const& all)
{
  std::vector<std::string> sentences;
  if (all.results.empty()) {
    return sentences;
  }
  for (double const points : accuracy_margins) {
    if (auto const found = at_equal_accuracy(all, points)) {
      sentences.push_back("Fewest bytes " + sentence(all, *found) + ".");
    }
  }
  for (double const divisor : byte_divisors) {
    sentences.push_back("Best accuracy " + sentence(all, at_equal_bytes(all, divisor)) + ".");
  }
  for (double const megabits : projected_links) {
    sentences.push_back(fastest(all, megabits));
  }
  return sentences;
}

std::vector<std::vector<std::string>> comparison_table(comparison const& all)
{
  std::vector<std::vector<std::string>> table{{"method", "accuracy", "lowest", "highest", "rate", "B up",
                                               "B down", all.dense_reply ? "of dense, up" : "of dense",
                                               "100 Mb/s", "1 Gb/s", "unlimited", "memory", "omega"}};
  for (contender_result const& one : all.results) {
    auto const whole = [](double bytes) {
      return count_text(static_cast<std::uint64_t>(std::llround(bytes)));
    };
    std::vector<std::string> row{
      one.name + (one.diverged > 0 ? fmt::format(" ({} diverged)", one.diverged) : ""),
      percent_text(one.accuracy()),
      fmt::format("{:.2f}", 100 * one.lowest()),
      fmt::format("{:.2f}", 100 * one.highest()),
      number_text(one.learning_rate),
      whole(per_message(one, one.bytes_up)),
      whole(per_message(one, one.bytes_down)),
      one.sends_floats ? "1" : fraction_text(counted_bytes(all, one), counted_dense_bytes(all, one))};
    for (double const megabits : projected_links) {
      row.push_back(seconds_text(projected_seconds(one, megabits)));
    }
    row.push_back(one.stateless() ? "none" : bytes_text(one.state_bytes));
    row.push_back(number_text(one.omega));
    table.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> comparison_notes(comparison const& all)
{
  std::vector<std::string> notes{
    fmt::format(
      "Learning rates were chosen for each method by itself, with seed {}, on training images that were held "
      "out; the accuracies are those of {} other {} on the test images. Below {} points apart, two methods "
      "are not told apart.",
      all.tuning_seed, all.seeds.size(), all.seeds.size() == 1 ? "seed" : "seeds", number_text(noise_points)),
    "Bytes are those of the messages as coded, headers included: B up and B down are means of one message of "
    "one "
    "worker.",
    "Times are the training time measured here, with all workers sharing this machine's cores, plus the "
    "bytes of one "
    "worker over a link of its own, up and then down, nothing overlapping. Latency is not counted."};
  double most = 0;
  for (contender_result const& one : all.results) {
    most = std::max(most, one.state_bytes + one.server_state_bytes);
  }
  if (most > 0) {
    notes.push_back(fmt::format(
      "Error feedback keeps what was not sent: the column memory is what each worker holds for it ({} for "
      "plain "
      "floats of this model), lost when a worker leaves. Methods without memory keep nothing between steps.",
      bytes_text(4.0 * static_cast<double>(all.parameters))));
  }
  if (all.dense_reply) {
    notes.push_back(
      "The server replied with plain floats, so that methods are told apart by bytes up alone.");
  }
  if (all.interrupted) {
    notes.push_back("The comparison was interrupted: methods that were not finished are missing.");
  }
  return notes;
}

std::vector<plot> comparison_plots(comparison const& all)
{
  plot bytes{"Test accuracy in %, against bytes of a run",
             {all.dense_reply ? "bytes of all workers, up (logarithmic)"
                              : "bytes of all workers, up and down (logarithmic)",
              plot_unit::bytes, true},
             {"", plot_unit::percent, false},
             {},
             {}};
  plot time{"Test accuracy in %, against time on links of 100 Mb/s",
            {"projected seconds of a run (logarithmic)", plot_unit::number, true},
            {"", plot_unit::percent, false},
            {},
            {}};
  for (contender_result const& one : all.results) {
    plot_ink const ink    = one.sends_floats                                        ? plot_ink::neutral
                            : one.method == "bird" && one.name.rfind("dgc", 0) != 0 ? plot_ink::ours
                                                                                    : plot_ink::peer;
    double const accuracy = 100 * one.accuracy();
    std::string const note =
      fmt::format("{}: {}, {}", one.name, percent_text(one.accuracy()), bytes_text(counted_bytes(all, one)));
    plot_point const point{counted_bytes(all, one), accuracy, 100 * one.lowest(), 100 * one.highest(), note};
    bytes.series.push_back({one.name, ink, false, {point}});
    plot_point later = point;
    later.x          = projected_seconds(one, projected_links[0]);
    time.series.push_back({one.name, ink, false, {later}});
    if (one.sends_floats) {
      bytes.levels.push_back({accuracy, ""});
      time.levels.push_back({accuracy, ""});
    }
  }
  return {bytes, time};
}

std::string comparison_json(comparison const& all)
{
  ordered_json results = ordered_json::array();
  for (contender_result const& one : all.results) {
    results.push_back(json_of(all, one));
  }
  ordered_json const document{{"version", bird_version()},
                              {"model", all.model},
                              {"parameters", all.parameters},
                              {"workers", all.workers},
                              {"epochs", all.epochs},
                              {"local_steps", all.local_steps},
                              {"dense_reply", all.dense_reply},
                              {"tuning_seed", all.tuning_seed},
                              {"seeds", all.seeds},
                              {"interrupted", all.interrupted},
                              {"results", results},
                              {"verdicts", comparison_verdicts(all)},
                              {"notes", comparison_notes(all)}};
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

written_report write_comparison(std::filesystem::path const& directory, comparison const& all)
{
  prepare_output(directory);
  written_report written;
  auto const write = [&](char const* name, std::string const& contents) {
    write_file(directory / name, contents);
    written.files.push_back(directory / name);
  };
  auto const charts = comparison_plots(all);
  write("compare.json", comparison_json(all));
  write("compare.svg", svg_document(charts));
  write("compare.html", comparison_html(all));
  written.note = write_png_beside(charts, directory / "compare.png", written.files);
  return written;
}

}  // namespace bird::trainer
