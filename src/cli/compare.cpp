/// bird compare: trains with every method and says who wins where.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "compare.hpp"
#include "compare_report.hpp"
#include "interrupt.hpp"

namespace bird::cli {
namespace {

constexpr char const* explanation =
  "Each method gets the learning rate that does best on held-out images with one seed; other seeds are then\n"
  "trained and tested. The answer: fewest bytes at equal accuracy, best accuracy at equal bytes, and the "
  "time\n"
  "that a run would take on slow links.\n"
  "Examples:\n"
  "  bird compare                                   all methods, MLP, two seeds, two epochs\n"
  "  bird compare --quick                           one seed, one epoch: for a first look\n"
  "  bird compare --full                            more ratios, four epochs, three seeds\n"
  "  bird compare --methods dense,tile@0.03,topk-ef two methods against dense, at these ratios\n"
  "  bird compare --dense-reply                     compress only what workers send\n"
  "Methods: dense; the presets tile, sign1, paper, block; the peers topk, topk-ef, randomk, sbc, dgc.\n"
  "name@ratio asks for another ratio than the preset's own, or 0.01 for peers.";

std::vector<std::string> const quick_methods{"dense", "tile",    "sign1",       "paper", "block",
                                             "topk",  "topk-ef", "randomk@0.1", "sbc"};
std::vector<std::string> const moderate_methods{"dense",   "tile",        "sign1",    "sign1@0.01",
                                                "paper",   "block",       "topk@0.1", "topk",
                                                "topk-ef", "randomk@0.1", "sbc",      "dgc"};
std::vector<std::string> const full_methods{
  "dense",       "tile",    "tile@0.03", "tile@0.01", "sign1",       "sign1@0.03", "sign1@0.01",
  "paper",       "block",   "topk@0.1",  "topk",      "topk-ef@0.1", "topk-ef",    "topk-ef@0.001",
  "randomk@0.1", "randomk", "sbc",       "sbc@0.001", "dgc",         "block@0.001"};

struct compare_request {
  bool quick = false, full = false;
  std::vector<std::string> methods;
  std::string model = "mlp";
  int seeds = 0, tries = 0;  ///< 0: as of the size
  trainer::train_options base;
};

trainer::comparison_plan plan_of(compare_request const& request)
{
  trainer::train_options base = request.base;
  base.model                  = request.model == "mlp" ? trainer::model::mlp : trainer::model::lenet5;
  if (base.epochs == 0) {
    base.epochs = request.quick ? 1 : request.full ? 4 : 2;
  }
  int const seeds = request.seeds != 0 ? request.seeds : request.quick ? 1 : request.full ? 3 : 2;
  trainer::comparison_plan plan;
  plan.tries = request.tries != 0 ? request.tries : request.quick ? 2 : request.full ? 5 : 4;
  for (int i = 0; i < seeds; ++i) {
    plan.seeds.push_back(plan.tuning_seed + 1 + static_cast<std::uint64_t>(i));
  }
  auto const& names = !request.methods.empty() ? request.methods
                      : request.quick          ? quick_methods
                      : request.full           ? full_methods
                                               : moderate_methods;
  for (std::string const& name : names) {
    plan.contenders.push_back(trainer::make_contender(name, base));
  }
  return plan;
}

/// Prints the table, columns aligned: the first to the left, numbers to the right.
void print_table(std::vector<std::vector<std::string>> const& table)
{
  std::vector<std::size_t> widths(table.front().size(), 0);
  for (auto const& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (auto const& row : table) {
    fmt::print("{:<{}}", row[0], widths[0]);
    for (std::size_t i = 1; i < row.size(); ++i) {
      fmt::print("  {:>{}}", row[i], widths[i]);
    }
    fmt::print("\n");
  }
}

class printing final : public trainer::comparison_observer {
 public:
  printing(std::filesystem::path const& output, interrupt_guard const& interrupt)
    : output_{output}, interrupt_{interrupt}
  {
  }
  void note(std::string const& line) override
  {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }
  /// A long comparison that is killed leaves what it had found.
  void finished(trainer::comparison const& so_far) override
  {
    trainer::write_file(output_ / "compare.json", trainer::comparison_json(so_far));
  }
  [[nodiscard]] bool cancelled() const override { return interrupt_.requested(); }

 private:
  std::filesystem::path const& output_;
  interrupt_guard const& interrupt_;
};

int run(compare_request const& request)
{
  trainer::comparison_plan const plan = plan_of(request);
  trainer::prepare_output(request.base.output);
  interrupt_guard const interrupt;
  trainer::dataset data = trainer::load_dataset(request.base.data);
  printing shown{request.base.output, interrupt};
  trainer::comparison const all = trainer::compare(plan, std::move(data), shown);
  auto const report             = trainer::write_comparison(request.base.output, all);
  fmt::print("\n");
  print_table(trainer::comparison_table(all));
  fmt::print("\n");
  for (std::string const& line : trainer::comparison_verdicts(all)) {
    fmt::print("{}\n", line);
  }
  fmt::print("\n");
  for (std::string const& line : trainer::comparison_notes(all)) {
    fmt::print("note: {}\n", line);
  }
  if (!report.note.empty()) {
    fmt::print("note: {}\n", report.note);
  }
  for (auto const& file : report.files) {
    fmt::print("report: {}\n", file.string());
  }
  return all.interrupted ? exit_interrupted : 0;
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code)
{
  CLI::App* const command = app.add_subcommand("compare", "Train with every method and tell who wins where");
  auto const request      = std::make_shared<compare_request>();
  auto& base              = request->base;
  base.epochs             = 0;
  base.output             = "compare";
  auto* const quick = command->add_flag("--quick", request->quick, "one seed, few learning rates, one epoch");
  command->add_flag("--full", request->full, "more ratios, learning rates, seeds and epochs")
    ->excludes(quick);
  command->add_option("--methods", request->methods, "methods to compare, separated by commas")
    ->delimiter(',');
  command->add_option("--model", request->model, "network: mlp or lenet5")
    ->check(CLI::IsMember({"mlp", "lenet5"}))
    ->capture_default_str();
  command->add_option("--workers", base.workers, "workers")->capture_default_str();
  command->add_option("--epochs", base.epochs, "epochs of each run; default: 1 quick, 2, 4 full")
    ->check(CLI::Range(1, 10000));
  command->add_option("--seeds", request->seeds, "seeds that are reported; default: 1 quick, 2, 3 full")
    ->check(CLI::Range(1, 1000));
  command
    ->add_option("--tries", request->tries, "learning rates tried at the most; default: 2 quick, 4, 5 full")
    ->check(CLI::Range(1, 20));
  command->add_option("--local-steps", base.local_steps, "plain SGD steps of a worker in each round")
    ->capture_default_str();
  command->add_flag("--dense-reply", base.dense_reply, "the server replies with plain floats");
  command->add_option("--data", base.data, "folder of the four data files")->capture_default_str();
  command->add_option("--output", base.output, "folder of the report")->capture_default_str();
  command->footer(explanation);
  command->callback([request, &exit_code] { exit_code = run(*request); });
}

}  // namespace bird::cli
