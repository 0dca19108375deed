/// bird train: one training run, watched, and its report.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "commands.hpp"
#include "dataset.hpp"
#include "interrupt.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "report_text.hpp"
#include "session.hpp"
#include "traffic.hpp"
#include "train_flags.hpp"

namespace bird::cli {
namespace {

constexpr char const* examples =
  "Examples:\n"
  "  bird train                                     the main job: LeNet-5, four workers, preset tile\n"
  "  bird train --link-mbps 20 --method dense       what a slow link costs without compression\n"
  "  bird train --link-mbps 20                      and with it\n"
  "  bird train --codec sign1 --ratio 0.03          fewer bytes\n"
  "  bird train --codec block                       fewest bytes, for memory in the workers\n"
  "  bird train --local-steps 16 --codec paper      round updates, as published\n"
  "  bird train --sync dsync --groups 2 --period 10 two servers that merge every 10 rounds\n"
  "Ctrl-C ends a run in good order: the report is written, the exit code is 130. A run that diverges ends\n"
  "with advice, its report and exit code 1.";

struct train_request {
  train_flags flags;
  bool json  = false;
  bool quiet = false;
};

std::string headline(trainer::train_options const& options)
{
  std::string text = fmt::format("{} on {}, {} workers, {}", to_string(options.model), options.data.string(),
                                 options.workers, codec_description(options));
  if (options.sync == trainer::synchronization::dsync) {
    text += fmt::format(", {} servers merging every {} rounds", options.groups, options.period);
  }
  if (options.local_steps > 1) {
    text += fmt::format(", {} local steps a round", options.local_steps);
  }
  return text;
}

void print_summary(trainer::train_result const& result, trainer::written_report const& report)
{
  fmt::print("\ntest accuracy {:.2f} %{}\n", 100 * result.test_accuracy,
             result.interrupted ? " (interrupted)"
             : result.diverged  ? " (diverged)"
                                : "");
  fmt::print("bytes         up {}, down {}\n", traffic_text(result.bytes_up, result.dense_bytes_up),
             traffic_text(result.bytes_down, result.dense_bytes_down));
  if (result.bytes_between_servers > 0) {
    fmt::print("              between servers {}\n",
               trainer::bytes_text(static_cast<double>(result.bytes_between_servers)));
  }
  fmt::print("time          {:.1f} s: gradient {:.1f}, codec {:.1f}, link {:.1f} (mean of the workers)\n",
             result.seconds, result.split.gradient, result.split.codec, result.split.link);
  fmt::print("noise         omega {:.3g} up, {:.3g} down; learning rate {:.4g}\n", result.omega,
             result.reply_omega, result.learning_rate);
  fmt::print("memory        {} in each worker, {} at the server, kept for the method\n",
             trainer::bytes_text(static_cast<double>(result.state_bytes)),
             trainer::bytes_text(static_cast<double>(result.server_state_bytes)));
  if (result.link_mbps == 0) {
    fmt::print(
      "note          inside one process compression gains no time; --link-mbps 20 shows what it is for\n");
  }
  if (!report.note.empty()) {
    fmt::print("note          {}\n", report.note);
  }
  for (auto const& file : report.files) {
    fmt::print("report        {}\n", file.string());
  }
}

int run(train_request const& request)
{
  trainer::train_options const options = request.flags.options();
  trainer::prepare_output(options.output);
  if (!options.dump_gradients.empty()) {
    trainer::prepare_output(options.dump_gradients);
  }
  bool const silent = request.quiet || request.json;
  interrupt_guard const interrupt;
  if (!silent) {
    fmt::print("{}\n", headline(options));
  }
  trainer::dataset const data = trainer::load_dataset(options.data);

  trainer::train_result result;
  {
    progress_line shown{silent ? progress_style::silent : style_for(stdout), stdout, interrupt};
    result = trainer::train(options, data, shown);
  }
  trainer::written_report const report = trainer::write_report(options, result);
  if (request.json) {
    fmt::print("{}\n", trainer::report_json(options, result));
  } else if (!request.quiet) {
    print_summary(result, report);
  }
  if (result.diverged) {
    fmt::print(stderr, "bird: {}\n", result.advice);
  }
  return result.interrupted ? exit_interrupted : result.diverged ? exit_failed : 0;
}

}  // namespace

void add_train_command(CLI::App& app, int& exit_code)
{
  CLI::App* const command = app.add_subcommand("train", "Train a network with compressed updates");
  auto const request      = std::make_shared<train_request>();
  request->flags.add_run_options(*command);
  request->flags.add_codec_options(*command);
  command->add_flag("--json", request->json, "print report.json instead of text");
  command->add_flag("--quiet", request->quiet, "print nothing but errors");
  command->footer(examples);
  command->callback([request, &exit_code] { exit_code = run(*request); });
}

}  // namespace bird::cli
