#include "dataset.hpp"

#include <fmt/format.h>

#include "idx.hpp"

namespace bird::trainer {
namespace {

/// Mean and standard deviation of the pixels of Fashion-MNIST's training images, as shares of 255.
constexpr float pixel_mean      = 0.2860F;
constexpr float pixel_deviation = 0.3530F;
/// What both networks are built for.
constexpr std::uint32_t image_side = 28;

labelled_images load_pair(std::filesystem::path const& image_file, std::filesystem::path const& label_file)
{
  idx_array const images = read_idx(image_file, 3);
  idx_array const labels = read_idx(label_file, 1);
  if (images.extents[1] != image_side || images.extents[2] != image_side) {
    throw bad_dataset{fmt::format("{}: has images of {} x {} pixels, expected {} x {}", image_file.string(),
                                  images.extents[1], images.extents[2], image_side, image_side)};
  }
  if (labels.extents[0] != images.extents[0]) {
    throw bad_dataset{fmt::format("{}: has {} labels for the {} images of {}", label_file.string(),
                                  labels.extents[0], images.extents[0], image_file.filename().string())};
  }
  for (std::size_t i = 0; i < labels.bytes.size(); ++i) {
    if (labels.bytes[i] >= class_count) {
      throw bad_dataset{fmt::format("{}: label {} is {}, expected 0 to {}", label_file.string(), i,
                                    labels.bytes[i], class_count - 1)};
    }
  }

  labelled_images set;
  set.count   = images.extents[0];
  set.rows    = images.extents[1];
  set.columns = images.extents[2];
  set.labels  = labels.bytes;
  set.pixels.reserve(images.bytes.size());
  for (std::uint8_t const pixel : images.bytes) {
    set.pixels.push_back((static_cast<float>(pixel) / 255.0F - pixel_mean) / pixel_deviation);
  }
  return set;
}

}  // namespace

dataset load_dataset(std::filesystem::path const& directory)
{
  dataset data;
  data.train = load_pair(directory / "train-images-idx3-ubyte.gz", directory / "train-labels-idx1-ubyte.gz");
  data.test  = load_pair(directory / "t10k-images-idx3-ubyte.gz", directory / "t10k-labels-idx1-ubyte.gz");
  return data;
}

}  // namespace bird::trainer
