/// session: one training run. Workers are threads, the server is the calling thread.
///
/// A round: every worker computes its update (the mean gradient of a batch, or the way that
/// local_steps steps of plain SGD went), codes it and sends it. The server adds the decoded updates in
/// worker order, takes its step, codes the step and sends it to every worker. Server and workers apply
/// the *decoded* reply, so all of them hold the same parameters, bit for bit.
///
/// The result depends on the options and the data alone, not on how threads were scheduled (the times
/// in it do).
#pragma once

#include <cstdint>
#include <string>

#include "dataset.hpp"
#include "options.hpp"
#include "result.hpp"

namespace bird::trainer {

/// The state of a run as a progress line shows it.
struct progress {
  double epoch                   = 0;  ///< epochs done, with fraction
  int epochs                     = 0;
  std::uint64_t step             = 0;
  std::uint64_t steps            = 0;
  double loss                    = 0;      ///< mean over the last steps
  double test_accuracy           = 0;      ///< of the last test; 0 before the first
  bool tested                    = false;  ///< this call reports a new test_accuracy (an epoch ended)
  std::uint64_t bytes_up         = 0;
  std::uint64_t bytes_down       = 0;
  std::uint64_t dense_bytes_up   = 0;
  std::uint64_t dense_bytes_down = 0;
  double seconds                 = 0;
  double examples_per_second     = 0;
};

/// Is told what happens, on the thread that called train(). Every member may be left as it is.
class train_observer {
 public:
  virtual ~train_observer() = default;
  virtual void note(std::string const& /*line*/) {}               ///< a fact worth a line of its own
  virtual void on_progress(progress const& /*now*/) {}            ///< several times a second
  [[nodiscard]] virtual bool cancelled() const { return false; }  ///< asked before every round
};

/// Trains. `options.data`, `.output` are not looked at: the data are given and the report is written by
/// write_report().
/// @throws invalid_argument naming the option and its value
[[nodiscard]] train_result train(train_options const& options, dataset const& data, train_observer& observer);

}  // namespace bird::trainer
