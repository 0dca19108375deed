/// report_plots: the curves of one run.
#pragma once

#include <vector>

#include "plots.hpp"
#include "result.hpp"

namespace bird::trainer {

/// Test accuracy against epochs and against bytes both ways. Beside the bytes as coded stand those of the
/// same messages as plain floats.
[[nodiscard]] std::vector<plot> report_plots(train_result const& result);

}  // namespace bird::trainer
