/// The library as the benchmarks call it: one compressor with its tensors, packet and scratch.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bird/compressor.hpp"
#include "input.hpp"

namespace bird::bench {

/// Everything that one compress() call needs, kept between calls.
class codec {
 public:
  codec(std::vector<const_tensor_view> tensors, compressor_options options);

  /// Compresses with the key of the next step, so that each call keeps other tiles.
  void compress();

  [[nodiscard]] compress_report const& report() const { return report_; }
  [[nodiscard]] span<std::byte const> packet() const { return {packet_.data(), report_.packet_bytes}; }

 private:
  std::vector<const_tensor_view> tensors_;
  compressor compressor_;
  peers::array<std::byte> packet_;
  peers::array<std::byte> scratch_;
  sample_key key_{1, 0, 0};
  compress_report report_;
};

/// A compressor of one tensor that has compressed it, and whose packet was checked against it: as many slots
/// as the ratio says and, for full fp32 values, nothing but elements of the tensor, enlarged by one factor a
/// tile.
/// @throws std::runtime_error saying what is wrong
std::shared_ptr<codec> checked_codec(inputs& data, std::size_t count, dtype type, compressor_options options);

/// Systematic sampling of whole values with an Elias-Fano index: what most rows are about.
compressor_options full_values(double ratio, std::uint32_t tile);

/// "d=0.01 tile 256", with what differs from full_values() and from fp32, such as "top sign d=0.01 tile 8
/// float16".
std::string codec_name(compressor_options const& options, dtype type);

}  // namespace bird::bench
