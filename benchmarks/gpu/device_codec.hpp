/// The library on the device as the benchmarks call it, checked against the host.
#pragma once

#include <memory>
#include <vector>

#include "bird/compressor.hpp"
#include "codec.hpp"
#include "gpu/device_inputs.hpp"

namespace bird::bench {

/// One compressor with the lists that its calls take turns over, its packet and its scratch.
class device_codec {
 public:
  /// @param lists equal lists, in different memory
  device_codec(std::vector<std::vector<const_tensor_view>> lists, compressor_options options);

  /// Compresses list number i with the key of step `step`.
  void compress(std::size_t i, std::uint32_t step, cudaStream_t stream);

  /// Compresses once, and compares the packet with that of the host for the same list.
  /// @throws std::runtime_error saying what differs
  void check_against(std::vector<const_tensor_view> const& on_host);

  [[nodiscard]] span<std::byte const> packet() const { return packet_.bytes(); }
  [[nodiscard]] std::size_t decode_scratch_bytes(std::size_t packets) const;
  [[nodiscard]] std::size_t lists() const { return lists_.size(); }

 private:
  std::vector<std::vector<const_tensor_view>> lists_;
  compressor compressor_;
  device_buffer packet_;
  device_buffer scratch_;
};

/// Of one tensor, checked.
std::shared_ptr<device_codec> checked_device_codec(device_inputs& data, std::size_t count, dtype type,
                                                   compressor_options options);

}  // namespace bird::bench
