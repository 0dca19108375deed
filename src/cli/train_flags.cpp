#include "train_flags.hpp"

#include <fmt/format.h>

namespace bird::cli {
namespace {

/// The one of `choices` that is called `name`; the parser has let no other name through.
template <class Value>
Value named(std::string const& name, std::initializer_list<Value> choices)
{
  for (Value const value : choices) {
    if (name == to_string(value)) {
      return value;
    }
  }
  throw invalid_argument{fmt::format("\"{}\" is not a choice here", name)};
}

constexpr std::initializer_list<trainer::method> methods = {
  trainer::method::dense,   trainer::method::bird,    trainer::method::topk,
  trainer::method::topk_ef, trainer::method::randomk, trainer::method::sbc};
constexpr std::initializer_list<sampling> samplings = {sampling::bi_random, sampling::systematic,
                                                       sampling::uniform, sampling::top};
constexpr std::initializer_list<values> value_forms = {values::sign, values::full, values::bf16};
constexpr std::initializer_list<index> indices      = {index::u32, index::bitmap, index::elias_fano};
constexpr std::initializer_list<norm> norms         = {norm::l1, norm::l2};
constexpr std::initializer_list<trainer::error_feedback> memories = {
  trainer::error_feedback::none, trainer::error_feedback::residual, trainer::error_feedback::momentum};
constexpr std::initializer_list<trainer::model> models = {trainer::model::lenet5, trainer::model::mlp};
constexpr std::initializer_list<trainer::synchronization> syncs = {trainer::synchronization::bsp,
                                                                   trainer::synchronization::dsync};

/// Share of elements that peers send unless --ratio says otherwise: what their papers start from.
constexpr double peer_ratio = 0.01;

template <class Value>
CLI::Validator one_of(std::initializer_list<Value> choices)
{
  std::vector<std::string> names;
  for (Value const value : choices) {
    names.emplace_back(to_string(value));
  }
  return CLI::IsMember{names};
}

template <class Value>
void replace(Value& field, std::optional<Value> const& given)
{
  field = given.value_or(field);
}

template <class Value>
void replace(Value& field, std::optional<std::string> const& given, std::initializer_list<Value> choices)
{
  if (given) {
    field = named(*given, choices);
  }
}

}  // namespace

void train_flags::add_run_options(CLI::App& app)
{
  auto constexpr group = "Training";
  auto const add       = [&](char const* name, auto& target, char const* help) {
    return app.add_option(name, target, help)->group(group);
  };
  add("--model", model_, "network: lenet5 (61,706 parameters) or mlp (784-256-128-10, 235,146)")
    ->check(one_of(models))
    ->capture_default_str();
  add("--workers", given_.workers, "workers, each a thread with a shard of its own")->capture_default_str();
  add("--epochs", given_.epochs, "passes over the training images")->capture_default_str();
  add("--batch", given_.batch, "images per worker and step")->capture_default_str();
  add("--learning-rate", learning_rate_,
      "at the top of the schedule (100 steps warm-up, then a cosine to 0);\n"
      "default: what was measured for the method or preset; for other codecs\n"
      "0.1 / (1 + omega / workers) / 2, where omega, the noise of a message,\n"
      "is measured at the start");
  add("--momentum", given_.momentum, "of the server's optimizer; not used with --local-steps above 1")
    ->capture_default_str();
  add("--seed", given_.seed, "of initial weights, shards, batches and samples; same seed, same result")
    ->check(CLI::NonNegativeNumber)  // the parser itself wraps -1 around
    ->capture_default_str();
  add("--sync", sync_,
      "bsp: one server, all wait for all every round; dsync: groups of workers\n"
      "with a server each, bsp inside a group; the servers take the mean of\n"
      "their models every --period rounds")
    ->check(one_of(syncs))
    ->capture_default_str();
  add("--groups", given_.groups, "dsync: servers")->capture_default_str();
  add("--period", given_.period,
      "dsync: rounds from one merge to the next; merges are exact, so that\n"
      "round's reply is the whole model")
    ->capture_default_str();
  add("--local-steps", given_.local_steps, "plain SGD steps of a worker before each exchange")
    ->capture_default_str();
  add("--skew", given_.skew, "alpha of a Dirichlet skew of labels between workers; 0: none; 0.1: strong")
    ->capture_default_str();
  add("--link-mbps", given_.link_mbps, "speed of each worker's link, each way, in Mb/s; 0: not limited")
    ->capture_default_str();
  add("--data", given_.data, "folder of the four gzipped IDX files")->capture_default_str();
  add("--train-limit", given_.train_limit, "use the first so many training images; 0: all")
    ->check(CLI::NonNegativeNumber)
    ->capture_default_str();
  add("--test-limit", given_.test_limit, "use the first so many test images; 0: all")
    ->check(CLI::NonNegativeNumber)
    ->capture_default_str();
  add("--output", given_.output, "folder of the report")->capture_default_str();
}

void train_flags::add_codec_options(CLI::App& app)
{
  auto constexpr group = "Codec";
  auto const add       = [&](char const* name, auto& target, char const* help) {
    return app.add_option(name, target, help)->group(group);
  };
  add("--method", method_,
      "bird, dense, or a peer: topk, topk-ef (with error feedback), randomk,\n"
      "sbc (sparse binary compression)")
    ->check(one_of(methods))
    ->capture_default_str();
  add("--codec", preset_,
      "preset of method bird: tile, sign1 (both on the whole gradient, nothing\n"
      "kept in memory), paper (rows and filters, as published), block (top\n"
      "tiles with residual and velocity)")
    ->check(CLI::IsMember{std::vector<std::string>{"tile", "sign1", "paper", "block"}})
    ->capture_default_str();
  add("--ratio", ratio_,
      "share of tiles that is sent, replaces the preset's; peers: share of\n"
      "elements, 0.01 unless given");
  add("--reply-ratio", reply_ratio_, "the same for the server's reply");
  add("--tile", tile_, "elements per tile; 0: rows and filters; replaces the preset's")
    ->check(CLI::NonNegativeNumber);
  add("--sampling", sampling_, "replaces the preset's")->check(one_of(samplings));
  add("--values", values_, "replaces the preset's")->check(one_of(value_forms));
  add("--index", index_, "replaces the preset's")->check(one_of(indices));
  add("--norm", norm_, "replaces the preset's")->check(one_of(norms));
  add("--gamma", gamma_, "exponent of bi_random; replaces the preset's");
  app.add_flag("--blind", blind_, "with --sampling uniform: never look at tiles that are not sent")
    ->group(group);
  add("--feedback", feedback_, "memory of what was not sent, with --sampling top; replaces the preset's")
    ->check(one_of(memories));
  app
    .add_flag("--companion-bias", given_.companion_bias,
              "with --tile 0: biases ride on their rows, not dense")
    ->group(group);
  app.add_flag("--dense-reply", given_.dense_reply, "the server replies uncompressed")->group(group);
  add("--dump-gradients", given_.dump_gradients,
      "folder for worker 0's gradients of steps 0, 100 and 1000, as safetensors");
}

trainer::train_options train_flags::options() const
{
  trainer::train_options options = given_;
  trainer::apply_preset(options, preset_);
  options.model         = named(model_, models);
  options.sync          = named(sync_, syncs);
  options.method        = named(method_, methods);
  options.learning_rate = learning_rate_;
  options.reply_ratio   = reply_ratio_;
  replace(options.codec.sampling, sampling_, samplings);
  replace(options.codec.values, values_, value_forms);
  replace(options.codec.index, index_, indices);
  replace(options.codec.norm, norm_, norms);
  replace(options.feedback, feedback_, memories);
  replace(options.codec.tile, tile_);
  if (options.method != trainer::method::bird && options.method != trainer::method::dense) {
    options.codec.ratio = peer_ratio;
  }
  replace(options.codec.ratio, ratio_);
  replace(options.codec.gamma, gamma_);
  options.codec.blind = blind_;
  trainer::check(options);
  return options;
}

}  // namespace bird::cli
