/// accuracy: how many test images a model classifies rightly.
#pragma once

#include <cstddef>

#include "dataset.hpp"
#include "network.hpp"

namespace bird::trainer {

/// Share of the first `count` images that are classified rightly. Uses up to `threads` threads; the result
/// does not depend on how many.
[[nodiscard]] double accuracy(model kind, span<float const> parameters, labelled_images const& images,
                              std::size_t count, std::size_t threads);

}  // namespace bird::trainer
