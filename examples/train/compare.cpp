#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "compare_tuning.hpp"
#include "session.hpp"

namespace bird::trainer {
namespace {

constexpr method peers[]          = {method::topk, method::topk_ef, method::randomk, method::sbc};
constexpr double usual_peer_ratio = 0.01;

/// Sets the method of a contender. @returns false for an unknown name
bool set_method(train_options& options, std::string const& name)
{
  if (name == "dense") {
    options.method = method::dense;
    return true;
  }
  for (method const peer : peers) {
    if (name == to_string(peer)) {
      options.method      = peer;
      options.codec.ratio = usual_peer_ratio;
      return true;
    }
  }
  options.method = method::bird;
  if (name == "dgc") {
    apply_preset(options, "block");
    options.codec.tile   = 1;
    options.codec.values = values::bf16;
    return true;
  }
  try {
    apply_preset(options, name);
    return true;
  } catch (invalid_argument const&) {
    return false;
  }
}

/// Where the search begins: near the best rates that were found for the MLP, momentum 0.9. It decides how
/// many tries the search needs, not where it ends.
double first_rate(train_options const& options)
{
  double const ratio = options.codec.ratio;
  switch (options.method) {
    case method::dense:
      return 0.1;
    case method::topk:
    case method::topk_ef:
    case method::sbc:
      return 0.03;
    case method::randomk:
      return ratio >= 0.03 ? 0.01 : 0.001;
    case method::bird:
      break;
  }
  if (options.codec.sampling == sampling::top) {
    return 0.03;
  }
  double const dense_enough = options.codec.tile == 1 ? 0.1 : 0.03;
  return ratio >= 0.05 ? dense_enough : ratio >= 0.005 ? dense_enough / 10 : dense_enough / 30;
}

double ratio_of(std::string const& text, std::string const& name)
{
  std::size_t end    = 0;
  double const ratio = [&] {
    try {
      return std::stod(text, &end);
    } catch (std::exception const&) {
      return -1.0;
    }
  }();
  if (end != text.size() || !(ratio > 0 && ratio <= 1)) {
    throw invalid_argument{
      fmt::format("--methods: the ratio of \"{}\" must be above 0 and at most 1, is \"{}\"", name, text)};
  }
  return ratio;
}

/// Forwards a wish to stop, and nothing else, to the comparison's observer.
class run_observer final : public train_observer {
 public:
  explicit run_observer(comparison_observer const& outer) : outer_{outer} {}
  [[nodiscard]] bool cancelled() const override { return outer_.cancelled(); }

 private:
  comparison_observer const& outer_;
};

labelled_images take_last(labelled_images& from, std::size_t count)
{
  std::size_t const pixels = from.rows * from.columns;
  labelled_images last{count, from.rows, from.columns, {}, {}};
  from.count -= count;
  last.pixels.assign(from.pixels.begin() + static_cast<std::ptrdiff_t>(from.count * pixels),
                     from.pixels.end());
  last.labels.assign(from.labels.begin() + static_cast<std::ptrdiff_t>(from.count), from.labels.end());
  from.pixels.resize(from.count * pixels);
  from.labels.resize(from.count);
  return last;
}

class comparing {
 public:
  comparing(comparison_plan const& plan, dataset data, comparison_observer& observer)
    : plan_{plan}, data_{std::move(data)}, observer_{observer}
  {
    if (plan.contenders.empty() || plan.seeds.empty() || plan.tries < 1) {
      throw invalid_argument{
        fmt::format("a comparison of {} methods, {} seeds and {} learning rates compares nothing",
                    plan.contenders.size(), plan.seeds.size(), plan.tries)};
    }
    if (data_.train.count <= plan.held_out) {
      throw invalid_argument{
        fmt::format("of {} training images {} cannot be held out", data_.train.count, plan.held_out)};
    }
    held_out_ = take_last(data_.train, plan.held_out);
  }

  comparison run()
  {
    train_options const& shared = plan_.contenders.front().options;
    comparison all;
    all.model       = to_string(shared.model);
    all.workers     = shared.workers;
    all.epochs      = shared.epochs;
    all.local_steps = shared.local_steps;
    all.dense_reply = shared.dense_reply;
    all.tuning_seed = plan_.tuning_seed;
    all.seeds       = plan_.seeds;
    for (contender const& each : plan_.contenders) {
      contender_result result = judge(each, all);
      if (observer_.cancelled()) {
        all.interrupted = true;
        break;
      }
      all.results.push_back(std::move(result));
      observer_.finished(all);
    }
    return all;
  }

 private:
  train_result run_once(contender const& each, double rate, std::uint64_t seed)
  {
    train_options options = each.options;
    options.learning_rate = rate;
    options.seed          = seed;
    run_observer watching{observer_};
    return train(options, data_, watching);
  }

  /// Accuracy on the held-out images.
  double score(contender const& each, double rate)
  {
    if (observer_.cancelled()) {
      return 0;
    }
    std::swap(data_.test, held_out_);
    train_result const result = run_once(each, rate, plan_.tuning_seed);
    std::swap(data_.test, held_out_);
    observer_.note(fmt::format("{}: learning rate {:.4g} gives {:.2f} % of the held-out images{}, {:.1f} s",
                               each.name, rate, 100 * result.test_accuracy,
                               result.diverged ? " (diverged)" : "", result.seconds));
    return result.diverged ? 0 : result.test_accuracy;
  }

  contender_result judge(contender const& each, comparison& all)
  {
    contender_result sum;
    sum.name         = each.name;
    sum.sends_floats = each.options.method == method::dense;
    sum.tried = climb_rates(each.first_rate, plan_.tries, [&](double rate) { return score(each, rate); });
    sum.learning_rate = best_rate(sum.tried);
    for (std::uint64_t const seed : plan_.seeds) {
      if (observer_.cancelled()) {
        return sum;
      }
      train_result const result = run_once(each, sum.learning_rate, seed);
      add(sum, result);
      all.parameters = result.parameters;
      observer_.note(fmt::format("{}: seed {} gives {:.2f} % of the test images{}, {:.1f} s", each.name, seed,
                                 100 * result.test_accuracy, result.diverged ? " (diverged)" : "",
                                 result.seconds));
    }
    return sum;
  }

  void add(contender_result& sum, train_result const& result) const
  {
    auto const mean = [this](double& field, auto value) {
      field += static_cast<double>(value) / static_cast<double>(plan_.seeds.size());
    };
    sum.method  = result.method;
    sum.codec   = result.codec;
    sum.workers = result.workers;
    sum.accuracies.push_back(result.test_accuracy);
    sum.diverged += result.diverged ? 1 : 0;
    mean(sum.messages, static_cast<double>(result.rounds) * result.workers);
    mean(sum.bytes_up, result.bytes_up);
    mean(sum.bytes_down, result.bytes_down);
    mean(sum.dense_bytes_up, result.dense_bytes_up);
    mean(sum.dense_bytes_down, result.dense_bytes_down);
    mean(sum.seconds, result.seconds);
    mean(sum.gradient_seconds, result.split.gradient);
    mean(sum.codec_seconds, result.split.codec);
    mean(sum.state_bytes, result.state_bytes);
    mean(sum.server_state_bytes, result.server_state_bytes);
    mean(sum.omega, result.omega);
    mean(sum.reply_omega, result.reply_omega);
  }

  comparison_plan const& plan_;
  dataset data_;
  labelled_images held_out_;
  comparison_observer& observer_;
};

}  // namespace

double contender_result::accuracy() const
{
  return accuracies.empty() ? 0
                            : std::accumulate(accuracies.begin(), accuracies.end(), 0.0) /
                                static_cast<double>(accuracies.size());
}

double contender_result::lowest() const
{
  return accuracies.empty() ? 0 : *std::min_element(accuracies.begin(), accuracies.end());
}

double contender_result::highest() const
{
  return accuracies.empty() ? 0 : *std::max_element(accuracies.begin(), accuracies.end());
}

contender make_contender(std::string const& name, train_options const& base)
{
  contender made{name, base, 0};
  std::size_t const at = name.find('@');
  if (!set_method(made.options, name.substr(0, at))) {
    throw invalid_argument{
      fmt::format("--methods: there is no \"{}\"; there are dense, tile, sign1, paper, block, dgc, topk, "
                  "topk-ef, randomk and sbc",
                  name.substr(0, at))};
  }
  if (at != std::string::npos) {
    made.options.codec.ratio = ratio_of(name.substr(at + 1), name);
  }
  made.first_rate = first_rate(made.options);
  check(made.options);
  return made;
}

comparison compare(comparison_plan const& plan, dataset data, comparison_observer& observer)
{
  return comparing{plan, std::move(data), observer}.run();
}

}  // namespace bird::trainer
