/// Which golden packets there are: names, options and lists. Files in golden/ hold their bytes.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "encoded_packet.hpp"

namespace reference {

struct golden_packet {
  std::string name;
  bird::compressor_options options;
  bird::dtype type;
  bool non_finite;
};

/// Every sampling, values, index, norm and dtype at least once, all presets, every kind of segment.
inline std::vector<golden_packet> golden_packets()
{
  using namespace bird;
  return {
    {"tile", preset("tile"), dtype::float32, false},
    {"sign1", preset("sign1"), dtype::float16, false},
    {"paper", preset("paper"), dtype::bfloat16, true},
    {"block", preset("block"), dtype::float32, false},
    {"systematic_sign_bitmap",
     {sampling::systematic, values::sign, index::bitmap, norm::l1, 2, 0.3, 1.0},
     dtype::float32,
     true},
    {"systematic_bf16_u32_l2",
     {sampling::systematic, values::bf16, index::u32, norm::l2, 5, 0.1, 1.0},
     dtype::float16,
     false},
    {"bi_random_sign_elias_fano_l2",
     {sampling::bi_random, values::sign, index::elias_fano, norm::l2, 4, 0.2, 2.0},
     dtype::float16,
     false},
    {"bi_random_full_bitmap",
     {sampling::bi_random, values::full, index::bitmap, norm::l1, 16, 0.2, 1.0},
     dtype::float32,
     true},
    {"uniform_bf16_bitmap",
     {sampling::uniform, values::bf16, index::bitmap, norm::l1, 8, 0.1, 1.0},
     dtype::float32,
     false},
    {"uniform_full_elias_fano",
     {sampling::uniform, values::full, index::elias_fano, norm::l1, 1, 0.05, 1.0},
     dtype::bfloat16,
     true},
    {"top_full_u32",
     {sampling::top, values::full, index::u32, norm::l2, 0, 0.1, 1.0},
     dtype::bfloat16,
     false},
    {"everything",
     {sampling::uniform, values::full, index::u32, norm::l1, 8, 1.0, 1.0},
     dtype::float32,
     false},
  };
}

inline encoded_packet encode(golden_packet const& golden)
{
  return {small_list(golden.type, golden.options.tile, golden.non_finite), golden.options};
}

/// Elements of all segments, one after the other, as decompress() gives them.
inline std::vector<float> decode_with_library(bird::span<std::byte const> bytes)
{
  bird::packet_view const packet = bird::parse_packet(bytes);
  std::vector<float> elements(packet.header.element_count);
  std::vector<bird::tensor_view> tensors;
  std::uint64_t first = 0;
  for (bird::segment_entry const& segment : packet.segments) {
    tensors.push_back({elements.data() + first, segment.count, bird::dtype::float32});
    first += segment.count;
  }
  bird::decompress(bytes, tensors, bird::on_host);
  return elements;
}

inline std::vector<std::uint8_t> read_file(std::string const& path)
{
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

}  // namespace reference
