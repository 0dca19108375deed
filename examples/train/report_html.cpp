/// report_html: the page of one run.
#include <fmt/format.h>

#include <algorithm>

#include "report.hpp"
#include "report_page.hpp"
#include "report_plots.hpp"
#include "report_text.hpp"

namespace bird::trainer {
namespace {

char const* name_of(std::string const& model)
{
  return model == "lenet5" ? "LeNet-5" : model == "mlp" ? "The MLP" : model.c_str();
}

std::string headline(train_result const& result)
{
  auto const sent  = static_cast<double>(result.bytes_up + result.bytes_down);
  auto const dense = static_cast<double>(result.dense_bytes_up + result.dense_bytes_down);
  if (result.diverged) {
    return fmt::format("{} diverged with {} at learning rate {}", name_of(result.model), result.codec,
                       number_text(result.learning_rate));
  }
  std::string const reached =
    fmt::format("{} reached {} test accuracy", name_of(result.model), percent_text(result.test_accuracy));
  if (result.method == "dense") {
    return reached + ", sending plain floats";
  }
  return fmt::format("{} on {} of the bytes of plain floats", reached, fraction_text(sent, dense));
}

std::string below(train_result const& result)
{
  std::string const how =
    result.codec == result.method ? result.codec : result.method + " with " + result.codec;
  return fmt::format("{}: {} workers, {}{} epochs, {} parameters, seed {}", how, result.workers,
                     result.interrupted ? "interrupted, of " : "", result.epochs,
                     count_text(result.parameters), result.seed);
}

std::vector<page_tile> tiles(train_result const& result)
{
  auto const up = static_cast<double>(result.bytes_up), down = static_cast<double>(result.bytes_down);
  auto const dense_up   = static_cast<double>(result.dense_bytes_up);
  auto const dense_down = static_cast<double>(result.dense_bytes_down);
  double const messages = std::max(1.0, static_cast<double>(result.rounds) * result.workers);
  auto const of_dense   = [](double part, double whole) {
    std::string const text = fraction_text(part, whole);
    return text == "as many" ? "as many as plain floats" : text + " of plain floats";
  };
  auto const message = [&](double bytes) { return bytes_text(bytes / messages) + " a message"; };
  return {
    {"Test accuracy", percent_text(result.test_accuracy), fmt::format("loss {:.3f}", result.loss)},
    {"Sent both ways", bytes_text(up + down), of_dense(up + down, dense_up + dense_down)},
    {"Workers to server", bytes_text(up), of_dense(up, dense_up) + ", " + message(up)},
    {"Server to workers", bytes_text(down), of_dense(down, dense_down) + ", " + message(down)},
    {"Training time", seconds_text(result.seconds),
     count_text(static_cast<std::uint64_t>(result.examples_per_second)) + " images a second"},
    {"Kept in memory", bytes_text(static_cast<double>(result.state_bytes)),
     "by each worker; " + bytes_text(static_cast<double>(result.server_state_bytes)) + " at the server"}};
}

page_table curve_table(train_result const& result)
{
  page_table table{{"Epoch", "Test accuracy", "Loss", "Up", "Down", "Seconds"}, {}};
  for (curve_point const& point : result.curve) {
    table.rows.push_back({number_text(point.epoch), percent_text(point.test_accuracy),
                          fmt::format("{:.4f}", point.loss), bytes_text(static_cast<double>(point.bytes_up)),
                          bytes_text(static_cast<double>(point.bytes_down)),
                          fmt::format("{:.2f}", point.seconds)});
  }
  return table;
}

page_table time_table(train_result const& result)
{
  time_split const& split = result.split;
  double const rest       = std::max(0.0, result.seconds - split.gradient - split.codec - split.link);
  auto const row          = [&](char const* name, double seconds) {
    return std::vector<std::string>{
      name, seconds_text(seconds),
      result.seconds > 0 ? fmt::format("{:.0f} %", 100 * seconds / result.seconds) : "-"};
  };
  return {{"A worker's time, mean", "", "of the whole"},
          {row("forward and backward", split.gradient), row("coding, decoding, applying", split.codec),
           row("waiting for the link", split.link), row("waiting for others, and the rest", rest)}};
}

page_table options_table(train_options const& o, train_result const& result)
{
  auto const yes = [](bool value) { return std::string{value ? "yes" : "no"}; };
  page_table table{{}, {}};
  auto const add = [&](char const* name, std::string value) {
    table.rows.push_back({name, std::move(value)});
  };
  add("model", to_string(o.model));
  add("method", to_string(o.method));
  if (o.method == method::bird) {
    add("codec", result.codec);
    add("sampling", to_string(o.codec.sampling));
    add("values", to_string(o.codec.values));
    add("index", to_string(o.codec.index));
    add("norm", to_string(o.codec.norm));
    add("tile", o.codec.tile == 0 ? "rows and filters" : fmt::format("{} elements", o.codec.tile));
    add("gamma", number_text(o.codec.gamma));
    add("error feedback", to_string(o.feedback));
    add("biases ride on their rows", yes(o.companion_bias));
  }
  if (o.method != method::dense) {
    add("ratio", number_text(o.codec.ratio));
    add("ratio of the reply", o.dense_reply   ? "dense"
                              : o.reply_ratio ? number_text(*o.reply_ratio)
                                              : "as of the method");
  }
  add("workers", std::to_string(o.workers));
  add("epochs", std::to_string(o.epochs));
  add("images per worker and step", std::to_string(o.batch));
  add("learning rate", number_text(result.learning_rate) + (o.learning_rate ? "" : " (chosen)"));
  add("momentum", number_text(o.momentum));
  add("seed", std::to_string(o.seed));
  add("synchronization", o.sync == synchronization::bsp
                           ? "bsp"
                           : fmt::format("dsync, {} groups, merged every {} rounds", o.groups, o.period));
  add("local steps", std::to_string(o.local_steps));
  add("link", o.link_mbps == 0 ? "not limited" : number_text(o.link_mbps) + " Mb/s each way");
  add("label skew", o.skew == 0 ? "none" : "Dirichlet, alpha " + number_text(o.skew));
  add("data", o.data.string());
  return table;
}

/// What bytes would cost one worker on a link of its own, up and then down.
double seconds_on(double megabits, std::uint64_t up, std::uint64_t down, int workers)
{
  return static_cast<double>(up + down) / std::max(1, workers) * 8 / (megabits * 1e6);
}

std::vector<std::string> honest_note(train_result const& result)
{
  auto const on = [&](double megabits) {
    return fmt::format(
      "{} instead of {} at {} Mb/s",
      seconds_text(seconds_on(megabits, result.bytes_up, result.bytes_down, result.workers)),
      seconds_text(seconds_on(megabits, result.dense_bytes_up, result.dense_bytes_down, result.workers)),
      number_text(megabits));
  };
  std::vector<std::string> text;
  if (result.link_mbps > 0) {
    text.push_back(fmt::format(
      "Each worker's link was held to {} Mb/s each way by a token bucket, so the training time above "
      "contains the "
      "time of the bytes. The workers are threads of one program; latency and loss of a real network are not "
      "imitated.",
      number_text(result.link_mbps)));
  } else {
    text.push_back(
      "Workers and server are threads of one program, so a byte costs next to nothing here and compression "
      "gained "
      "no time in this run. It pays where the link is slow.");
    if (result.method != "dense") {
      text.push_back("Moving this run's bytes over each worker's own link would take " + on(100) + " and " +
                     on(1000) + ", computed from the bytes; --link-mbps lets you see it.");
    }
  }
  if (result.omega > 0) {
    bool const keeps = result.state_bytes > 0;
    text.push_back(fmt::format(
      "The workers' messages were off by omega = {} (|decoded - wanted|^2 / |wanted|^2), the server's by {}. "
      "{}",
      number_text(result.omega), number_text(result.reply_omega),
      keeps ? "What a message left out is kept in memory and goes into the next one (error feedback)."
            : "Noise of that size asks for a smaller learning rate than dense training bears."));
  }
  return text;
}

}  // namespace

std::string report_html(train_options const& options, train_result const& result)
{
  std::string body = page_headline(headline(result), below(result));
  if (result.diverged) {
    body += page_warning("The run was stopped: " + result.advice);
  } else if (result.interrupted) {
    body += page_warning("The run was interrupted; the numbers are those of the steps that were done.");
  }
  body += page_tiles(tiles(result));
  body += page_charts(report_plots(result));
  body += page_folded_table("The curve in numbers", curve_table(result));
  body += page_text("How to read this", honest_note(result));
  body += page_table_of("Where the time went", time_table(result));
  body += page_table_of("Options", options_table(options, result));
  return page("bird train: " + result.codec, body);
}

}  // namespace bird::trainer
