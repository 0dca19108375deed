/// One list, compressed on the device and on the host.
#pragma once

#include "device_list.hpp"

namespace bird_test {

/// A list of three tensors, its buffers, and the packet that the host makes of it.
struct call {
  bird::compressor codec{bird::preset("tile")};
  twin_list list{bird::dtype::float32, {{5'000}, {300, bird::segment_role::dense}, {2'000}}, 11};
  device_buffer packet{codec.packet_capacity(list.host())};
  device_buffer scratch{codec.compress_scratch_bytes(list.host())};
  device_buffer decode_scratch{codec.decode_scratch_bytes(list.host())};

  void compress(bird::stream_ref s, std::uint32_t step = 0) const
  {
    codec.compress(list.device(), {1, step, 2}, packet.span(), scratch.span(), s);
  }
  [[nodiscard]] std::vector<std::byte> host_packet(std::uint32_t step = 0) const
  {
    host_buffer bytes{codec.packet_capacity(list.host())};
    host_buffer work{codec.compress_scratch_bytes(list.host())};
    auto const report = codec.compress(list.host(), {1, step, 2}, bytes.span(), work.span(), bird::on_host);
    auto const used   = bytes.span().first(report.packet_bytes);
    return {used.begin(), used.end()};
  }
  void expect_packet(std::uint32_t step = 0) const
  {
    std::vector<std::byte> const wanted = host_packet(step);
    std::vector<std::byte> got          = packet.bytes();
    got.resize(wanted.size());
    EXPECT_TRUE(got == wanted) << "step " << step;
  }
};

}  // namespace bird_test
