/// The packet that the host makes of a list and that which the device makes of it.
#pragma once

#include "device_list.hpp"

namespace bird_test {

struct packet_pair {
  host_buffer host;
  device_buffer device;
  std::size_t bytes;  ///< of the host's packet
};

inline packet_pair compress_both(bird::compressor const& codec, twin_list const& list, bird::sample_key key,
                                 stream const& s)
{
  std::size_t const capacity = codec.packet_capacity(list.host());
  std::size_t const needed   = codec.compress_scratch_bytes(list.host());
  packet_pair both{host_buffer{capacity}, device_buffer{capacity}, 0};
  host_buffer scratch{needed};
  device_buffer const device_scratch{needed};
  both.bytes = codec.compress(list.host(), key, both.host.span(), scratch.span(), bird::on_host).packet_bytes;
  codec.compress(list.device(), key, both.device.span(), device_scratch.span(), s);
  s.wait();
  return both;
}

inline void expect_same_packet(packet_pair& both, std::string const& what)
{
  std::vector<std::byte> const device = both.device.bytes();
  auto const host                     = both.host.span();
  for (std::size_t i = 0; i < both.bytes; ++i) {
    ASSERT_EQ(device[i], host[i]) << what << ": byte " << i << " of " << both.bytes;
  }
}

inline void expect_same_decoding(bird::compressor const& codec, twin_list const& list, packet_pair& both,
                                 bird::dtype type, stream const& s, std::string const& what)
{
  twin_outputs const out{list.host(), type};
  device_buffer const scratch{codec.decode_scratch_bytes(list.host(), 2)};
  bird::decompress(both.host.span(), out.host(), bird::on_host);
  bird::decompress(both.device.span(), out.device(), scratch.span(), s);
  bird::check_decoded(scratch.span(), s);
  EXPECT_TRUE(out.same()) << what << ": decompress";

  bird::weighted_packet const host_packets[]   = {{both.host.span(), 0.5F}, {both.host.span(), -1.25F}};
  bird::weighted_packet const device_packets[] = {{both.device.span(), 0.5F}, {both.device.span(), -1.25F}};
  bird::apply(host_packets, out.host(), bird::on_host);
  bird::apply(device_packets, out.device(), scratch.span(), s);
  bird::check_decoded(scratch.span(), s);
  EXPECT_TRUE(out.same()) << what << ": apply";
}

}  // namespace bird_test
