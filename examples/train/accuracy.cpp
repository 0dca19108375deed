#include "accuracy.hpp"

#include <algorithm>
#include <future>
#include <vector>

namespace bird::trainer {
namespace {

constexpr std::size_t batch_images = 100;

std::size_t count_correct(model kind, span<float const> parameters, labelled_images const& images,
                          std::size_t first, std::size_t last)
{
  network net{kind};
  std::size_t const pixels = images.rows * images.columns;
  std::size_t right        = 0;
  for (std::size_t i = first; i < last; i += batch_images) {
    std::size_t const size = std::min(batch_images, last - i);
    right += net.correct(
      parameters, {{images.pixels.data() + i * pixels, size * pixels}, {images.labels.data() + i, size}});
  }
  return right;
}

}  // namespace

double accuracy(model kind, span<float const> parameters, labelled_images const& images, std::size_t count,
                std::size_t threads)
{
  // Whole batches for each thread, so that every product has the same shape however many there are.
  std::size_t const batches = (count + batch_images - 1) / batch_images;
  threads                   = std::clamp<std::size_t>(threads, 1, batches);
  std::vector<std::future<std::size_t>> parts;
  for (std::size_t t = 0; t < threads; ++t) {
    std::size_t const first = batches * t / threads * batch_images;
    std::size_t const last  = std::min(count, batches * (t + 1) / threads * batch_images);
    parts.push_back(std::async(
      std::launch::async, [=, &images] { return count_correct(kind, parameters, images, first, last); }));
  }
  std::size_t right = 0;
  for (auto& part : parts) {
    right += part.get();
  }
  return static_cast<double>(right) / static_cast<double>(count);
}

}  // namespace bird::trainer
