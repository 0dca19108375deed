#include "report_plots.hpp"

#include <fmt/format.h>

#include "report_text.hpp"

namespace bird::trainer {

std::vector<plot> report_plots(train_result const& result)
{
  plot_ink const ink = result.method == "bird"    ? plot_ink::ours
                       : result.method == "dense" ? plot_ink::neutral
                                                  : plot_ink::peer;
  plot epochs{
    "Test accuracy in %, against epochs", {"epochs", {}, false}, {"", plot_unit::percent, false}, {}, {}};
  plot bytes{"Test accuracy in %, against bytes sent both ways",
             {"bytes of all workers, up and down (logarithmic)", plot_unit::bytes, true},
             {"", plot_unit::percent, false},
             {},
             {}};
  plot_series by_epoch{result.codec, ink, false, {}}, coded{result.codec, ink, false, {}};
  plot_series floats{"as plain floats", plot_ink::neutral, true, {}};
  auto const dense = static_cast<double>(result.dense_bytes_up + result.dense_bytes_down);
  for (curve_point const& point : result.curve) {
    double const accuracy = 100 * point.test_accuracy;
    auto const sent       = static_cast<double>(point.bytes_up + point.bytes_down);
    std::string const at =
      fmt::format("after {} epochs: {}", number_text(point.epoch), percent_text(point.test_accuracy));
    by_epoch.points.push_back({point.epoch, accuracy, 0, 0, at});
    coded.points.push_back({sent, accuracy, 0, 0, at + ", " + bytes_text(sent)});
    // Dense messages all have one size, so their bytes grow with the steps.
    double const share =
      result.steps == 0 ? 0 : static_cast<double>(point.step) / static_cast<double>(result.steps);
    floats.points.push_back({dense * share, accuracy, 0, 0, at + ", " + bytes_text(dense * share)});
  }
  epochs.series.push_back(by_epoch);
  if (result.method != "dense") {
    bytes.series.push_back(floats);
  }
  bytes.series.push_back(coded);
  return {epochs, bytes};
}

}  // namespace bird::trainer
