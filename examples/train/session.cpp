#include "session.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <stdexcept>
#include <thread>

#include "accuracy.hpp"
#include "blas.hpp"
#include "learning_rate.hpp"
#include "rendezvous.hpp"
#include "safetensors.hpp"
#include "server.hpp"
#include "stopwatch.hpp"
#include "worker.hpp"

namespace bird::trainer {
namespace {

/// Of ten classes, the loss of a guess is log 10 = 2.30. A run at several times that will not come back.
constexpr double hopeless_loss = 10.0;
/// Loss that progress and the check for divergence look at: mean of so many rounds.
constexpr std::size_t loss_window          = 20;
constexpr double progress_interval_seconds = 0.1;
/// Steps whose gradients --dump-gradients writes: dense at first, then sparser, then late.
constexpr std::uint64_t dumped_steps[] = {0, 100, 1000};

class session {
 public:
  session(train_options const& options, dataset const& data, train_observer& observer);
  train_result run();

 private:
  void plan();
  void make_members();
  double measure_omega();
  void work(std::size_t number);
  void serve();
  void exchange(std::uint32_t round);
  void merge();
  bool merges_after(std::uint32_t round) const;
  void dump_gradient(std::uint64_t step) const;
  std::vector<double> rates_of(std::uint32_t round) const;
  std::vector<float> mean_model() const;
  void measure(std::uint64_t step);
  void report_progress(bool tested);
  bool has_diverged();
  void finish();
  void require_agreement() const;

  train_options const options_;
  dataset const& data_;
  train_observer& observer_;

  std::size_t train_count_, test_count_;
  std::uint64_t steps_per_epoch_ = 0;
  std::uint64_t steps_           = 0;
  std::uint32_t rounds_          = 0;
  std::uint32_t rounds_done_     = 0;
  double rate_                   = 0;

  std::vector<shard> shards_;
  std::vector<float> initial_;
  std::deque<worker> workers_;  // a deque, since workers do not move
  std::vector<server> servers_;
  std::vector<std::size_t> group_of_;  ///< of each worker
  rendezvous gate_;

  train_result result_;
  stopwatch clock_;
  double testing_seconds_ = 0;
  double server_seconds_  = 0;
  double omega_sum_ = 0, reply_omega_sum_ = 0;
  std::uint64_t replies_coded_      = 0;
  double loss_since_point_          = 0;
  std::uint64_t rounds_since_point_ = 0;
  std::deque<double> recent_losses_;
  double last_progress_ = -1;
};

session::session(train_options const& options, dataset const& data, train_observer& observer)
  : options_{options},
    data_{data},
    observer_{observer},
    train_count_{options.train_limit == 0 ? data.train.count
                                          : std::min(options.train_limit, data.train.count)},
    test_count_{options.test_limit == 0 ? data.test.count : std::min(options.test_limit, data.test.count)},
    gate_{options.workers}
{
  plan();
  make_members();
}

void session::plan()
{
  auto const step_images =
    static_cast<std::uint64_t>(options_.workers) * static_cast<std::uint64_t>(options_.batch);
  steps_per_epoch_ = train_count_ / step_images;
  if (steps_per_epoch_ == 0) {
    throw invalid_argument{
      fmt::format("--workers {} with --batch {} need {} images for one step, there are {}", options_.workers,
                  options_.batch, step_images, train_count_)};
  }
  auto const local_steps = static_cast<std::uint64_t>(options_.local_steps);
  std::uint64_t const rounds =
    std::max<std::uint64_t>(1, steps_per_epoch_ * static_cast<std::uint64_t>(options_.epochs) / local_steps);
  if (rounds > std::numeric_limits<std::uint32_t>::max()) {
    throw invalid_argument{
      fmt::format("--epochs {} makes {} rounds, more than fit a key's step", options_.epochs, rounds)};
  }
  rounds_ = static_cast<std::uint32_t>(rounds);
  steps_  = rounds * local_steps;

  if (options_.skew > 0) {
    shards_ = deal_skewed({data_.train.labels.data(), train_count_}, options_.workers, options_.skew,
                          static_cast<std::uint32_t>(options_.batch), options_.seed);
  } else {
    shards_ = deal_evenly(static_cast<std::uint32_t>(train_count_), options_.workers, options_.seed);
  }
}

void session::make_members()
{
  network const net{options_.model};
  initial_.resize(net.parameters());
  net.initialize(initial_, options_.seed);

  auto const groups = static_cast<std::size_t>(options_.sync == synchronization::dsync ? options_.groups : 1);
  auto const count  = static_cast<std::size_t>(options_.workers);
  std::vector<int> sizes(groups, 0);
  for (std::size_t i = 0; i < count; ++i) {
    group_of_.push_back(i * groups / count);
    ++sizes[group_of_.back()];
    workers_.emplace_back(options_, static_cast<int>(i), data_.train, shards_[i], initial_, real_clock());
  }
  bool const server_has_momentum = options_.local_steps == 1 && !workers_.front().codec().has_momentum();
  for (std::size_t g = 0; g < groups; ++g) {
    servers_.emplace_back(options_, net.shape(), static_cast<int>(g), sizes[g],
                          server_has_momentum ? options_.momentum : 0.0, initial_);
  }

  learning_rate_choice const choice = choose_learning_rate(options_, [this] { return measure_omega(); });
  rate_                             = choice.rate;
  observer_.note(choice.reason);
}

/// Relative error of a message at the start of training, mean over a few batches.
double session::measure_omega()
{
  constexpr std::size_t batches = 4;
  network net{options_.model};
  auto const codec = make_update_codec(options_, net.shape(), direction::up);
  std::vector<float> gradient(net.parameters());
  std::vector<std::byte> message;
  std::size_t const pixels = data_.train.rows * data_.train.columns;
  auto const size          = static_cast<std::size_t>(options_.batch);
  double sum               = 0;
  for (std::size_t i = 0; i < batches; ++i) {
    std::size_t const first = i * size % (train_count_ - size + 1);
    net.gradient(initial_,
                 {{data_.train.pixels.data() + first * pixels, size * pixels},
                  {data_.train.labels.data() + first, size}},
                 gradient);
    codec->encode(gradient, {options_.seed, static_cast<std::uint32_t>(i), 1U << 17}, message);
    sum += codec->omega();
  }
  return sum / batches;
}

std::vector<double> session::rates_of(std::uint32_t round) const
{
  auto const local_steps = static_cast<std::uint64_t>(options_.local_steps);
  std::vector<double> rates;
  for (std::uint64_t i = 0; i < local_steps; ++i) {
    rates.push_back(scheduled_rate(rate_, round * local_steps + i, steps_));
  }
  return rates;
}

bool session::merges_after(std::uint32_t round) const
{
  return options_.sync == synchronization::dsync &&
         ((round + 1) % static_cast<std::uint32_t>(options_.period) == 0 || round + 1 == rounds_);
}

/// A worker's thread.
void session::work(std::size_t number)
{
  try {
    omp_set_num_threads(1);
    worker& me   = workers_[number];
    server& mine = servers_[group_of_[number]];
    for (std::uint32_t round = 0; round < rounds_; ++round) {
      me.push(round, rates_of(round));
      switch (gate_.arrive_and_wait()) {
        case command::apply:
          me.apply(mine.reply(), mine.codec());
          break;
        case command::replace:
          me.replace(mine.reply());
          break;
        case command::stop:
          return;
      }
    }
  } catch (...) {
    gate_.fail(std::current_exception());
  }
}

/// The server's side of all rounds, on the calling thread.
void session::serve()
{
  for (std::uint32_t round = 0; round < rounds_; ++round) {
    gate_.wait_for_workers();
    if (observer_.cancelled()) {
      result_.interrupted = true;
      gate_.release(command::stop);
      return;
    }
    stopwatch const working;
    exchange(round);
    server_seconds_ += working.seconds();
    rounds_done_             = round + 1;
    std::uint64_t const step = rounds_done_ * static_cast<std::uint64_t>(options_.local_steps);
    if (has_diverged()) {
      result_.diverged = true;
      result_.advice   = divergence_advice(rate_, omega_sum_ / rounds_done_, options_.workers);
      gate_.release(command::stop);
      return;
    }
    std::uint64_t const step_before = step - static_cast<std::uint64_t>(options_.local_steps);
    if (step / steps_per_epoch_ > step_before / steps_per_epoch_ || rounds_done_ == rounds_) {
      measure(step);
    }
    report_progress(false);
    gate_.release(merges_after(round) ? command::replace : command::apply);
  }
}

void session::exchange(std::uint32_t round)
{
  double loss = 0, omega = 0;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    worker const& sender = workers_[i];
    servers_[group_of_[i]].receive(sender.message(), sender.codec());
    result_.bytes_up += sender.message().size();
    loss += sender.loss() / options_.workers;
    omega += sender.codec().omega() / options_.workers;
  }
  omega_sum_ += omega;
  loss_since_point_ += loss;
  ++rounds_since_point_;
  recent_losses_.push_back(loss);
  if (recent_losses_.size() > loss_window) {
    recent_losses_.pop_front();
  }
  if (options_.local_steps == 1) {
    dump_gradient(round);
  }

  // The way of local steps has their rates in it already.
  double const rate = options_.local_steps > 1 ? 1.0 : scheduled_rate(rate_, round, steps_);
  bool const merges = merges_after(round);
  for (server& group : servers_) {
    if (merges) {
      group.step_uncoded(rate);
    } else {
      group.step(round, rate);
      reply_omega_sum_ += group.codec().omega();
      ++replies_coded_;
    }
  }
  if (merges) {
    merge();
  }
  for (server const& group : servers_) {
    result_.bytes_down += group.reply().size() * static_cast<std::uint64_t>(group.workers());
  }
}

/// All servers take over the mean of their models, weighted by the workers that each speaks for.
void session::merge()
{
  std::vector<float> const mean = mean_model();
  for (server& group : servers_) {
    group.replace(mean);
  }
  if (servers_.size() > 1) {  // each sends its model to the common store and fetches the mean
    result_.bytes_between_servers += 2 * servers_.size() * mean.size() * sizeof(float);
  }
}

std::vector<float> session::mean_model() const
{
  if (servers_.size() == 1) {
    span<float const> const model = servers_.front().model();
    return {model.begin(), model.end()};
  }
  std::vector<float> mean(initial_.size(), 0.0F);
  for (server const& group : servers_) {
    float const weight = static_cast<float>(group.workers()) / static_cast<float>(options_.workers);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += weight * group.model()[i];
    }
  }
  return mean;
}

void session::dump_gradient(std::uint64_t step) const
{
  if (options_.dump_gradients.empty() ||
      std::find(std::begin(dumped_steps), std::end(dumped_steps), step) == std::end(dumped_steps)) {
    return;
  }
  network const net{options_.model};
  std::vector<named_array> arrays;
  for (parameter_segment const& array : net.shape()) {
    arrays.push_back({array.name,
                      array.row == 0 ? std::vector<std::size_t>{array.count}
                                     : std::vector<std::size_t>{array.count / array.row, array.row},
                      workers_.front().update().subspan(array.offset, array.count)});
  }
  write_safetensors(
    options_.dump_gradients / fmt::format("gradient-{}-step{}.safetensors", to_string(options_.model), step),
    arrays);
}

bool session::has_diverged()
{
  double sum = 0;
  for (double const loss : recent_losses_) {
    sum += loss;
  }
  return !(sum / static_cast<double>(recent_losses_.size()) < hopeless_loss);  // a NaN counts
}

/// Tests the model and adds a point to the curve.
void session::measure(std::uint64_t step)
{
  curve_point point;
  point.seconds = clock_.seconds() - testing_seconds_;
  stopwatch const testing;
  point.epoch = static_cast<double>(step) / static_cast<double>(steps_per_epoch_);
  point.step  = step;
  point.loss  = rounds_since_point_ == 0 ? 0 : loss_since_point_ / static_cast<double>(rounds_since_point_);
  point.test_accuracy = accuracy(options_.model, mean_model(), data_.test, test_count_,
                                 std::max(1U, std::thread::hardware_concurrency()));
  point.bytes_up      = result_.bytes_up;
  point.bytes_down    = result_.bytes_down;
  result_.curve.push_back(point);
  loss_since_point_   = 0;
  rounds_since_point_ = 0;
  testing_seconds_ += testing.seconds();
  report_progress(true);
}

void session::report_progress(bool tested)
{
  double const seconds = clock_.seconds() - testing_seconds_;
  if (!tested && seconds - last_progress_ < progress_interval_seconds) {
    return;
  }
  last_progress_            = seconds;
  auto const local_steps    = static_cast<std::uint64_t>(options_.local_steps);
  auto const workers        = static_cast<std::uint64_t>(options_.workers);
  std::uint64_t const dense = rounds_done_ * workers * initial_.size() * sizeof(float);
  progress now;
  now.step   = rounds_done_ * local_steps;
  now.steps  = steps_;
  now.epoch  = static_cast<double>(now.step) / static_cast<double>(steps_per_epoch_);
  now.epochs = options_.epochs;
  for (double const loss : recent_losses_) {
    now.loss += loss / static_cast<double>(recent_losses_.size());
  }
  now.test_accuracy    = result_.curve.empty() ? 0 : result_.curve.back().test_accuracy;
  now.tested           = tested;
  now.bytes_up         = result_.bytes_up;
  now.bytes_down       = result_.bytes_down;
  now.dense_bytes_up   = dense;
  now.dense_bytes_down = dense;
  now.seconds          = seconds;
  now.examples_per_second =
    static_cast<double>(now.step * workers * static_cast<std::uint64_t>(options_.batch)) /
    std::max(seconds, 1e-9);
  observer_.on_progress(now);
}

train_result session::run()
{
  clock_ = stopwatch{};
  measure(0);
  std::vector<std::thread> threads;
  try {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      threads.emplace_back([this, i] { work(i); });
    }
    serve();
  } catch (...) {
    gate_.release(command::stop);
    for (std::thread& thread : threads) {
      thread.join();
    }
    throw;
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  finish();
  return std::move(result_);
}

void session::finish()
{
  std::uint64_t const step = rounds_done_ * static_cast<std::uint64_t>(options_.local_steps);
  result_.seconds          = clock_.seconds() - testing_seconds_;
  if (result_.curve.back().step != step) {
    measure(step);
  }
  if (!result_.interrupted && !result_.diverged) {
    require_agreement();
  }

  double const workers     = options_.workers;
  auto const exchanges     = static_cast<double>(std::max(1U, rounds_done_));
  result_.method           = to_string(options_.method);
  result_.codec            = codec_description(options_);
  result_.model            = to_string(options_.model);
  result_.sync             = to_string(options_.sync);
  result_.seed             = options_.seed;
  result_.workers          = options_.workers;
  result_.epochs           = options_.epochs;
  result_.local_steps      = options_.local_steps;
  result_.parameters       = initial_.size();
  result_.steps            = step;
  result_.rounds           = rounds_done_;
  result_.test_accuracy    = result_.curve.back().test_accuracy;
  result_.loss             = result_.curve.back().loss;
  result_.dense_bytes_up   = rounds_done_ * workers_.size() * initial_.size() * sizeof(float);
  result_.dense_bytes_down = result_.dense_bytes_up;
  result_.split.codec      = server_seconds_;
  for (worker const& each : workers_) {
    result_.split.gradient += each.gradient_seconds() / workers;
    result_.split.codec += each.codec_seconds() / workers;
    result_.split.link += each.link_seconds() / workers;
  }
  result_.examples_per_second =
    static_cast<double>(step) * workers * options_.batch / std::max(result_.seconds, 1e-9);
  result_.state_bytes        = workers_.front().codec().state_bytes();
  result_.server_state_bytes = servers_.front().codec().state_bytes();
  result_.omega              = omega_sum_ / exchanges;
  result_.reply_omega   = replies_coded_ == 0 ? 0 : reply_omega_sum_ / static_cast<double>(replies_coded_);
  result_.learning_rate = rate_;
  result_.link_mbps     = options_.link_mbps;
}

/// Workers that hold another model than their server would be a bug, and silent.
void session::require_agreement() const
{
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    span<float const> const model = servers_[group_of_[i]].model();
    if (std::memcmp(workers_[i].parameters().data(), model.data(), model.size_bytes()) != 0) {
      throw std::logic_error{fmt::format("worker {} does not hold its server's model", i)};
    }
  }
}

}  // namespace

train_result train(train_options const& options, dataset const& data, train_observer& observer)
{
  check(options);
  prepare_blas();
  omp_set_num_threads(1);  // the server's codec calls; the workers set their own
  return session{options, data, observer}.run();
}

}  // namespace bird::trainer
