/// Which golden packets there are: names, options and lists. Files in golden/ hold their bytes.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "encoded_packet.hpp"

namespace reference {

enum class golden_list { finite, non_finite, example };

struct golden_packet {
  std::string name;
  bird::compressor_options options;
  bird::dtype type;
  golden_list list;
};

/// The list of the specification's example: five weights, and one bias for each pair of them.
inline std::vector<gradient> example_list()
{
  std::vector<gradient> tensors;
  tensors.push_back(make_gradient(5, bird::dtype::float32, bird::segment_role::sampled, 0, 0));
  tensors.push_back(make_gradient(3, bird::dtype::float32, bird::segment_role::companion, 0, 0));
  int const weights[] = {16, -32, 0, 0, -48};
  int const biases[]  = {32, 64, -32};
  for (std::size_t i = 0; i < 5; ++i) {
    set_element(tensors[0], i, scaled_integer(weights[i], bird::dtype::float32));
  }
  for (std::size_t i = 0; i < 3; ++i) {
    set_element(tensors[1], i, scaled_integer(biases[i], bird::dtype::float32));
  }
  return tensors;
}

/// Every sampling, values, index, norm and dtype at least once, all presets, every kind of segment.
inline std::vector<golden_packet> golden_packets()
{
  using namespace bird;
  return {
    {"example",
     {sampling::systematic, values::sign, index::elias_fano, norm::l1, 2, 1.0, 1.0},
     dtype::float32,
     golden_list::example},
    {"tile", preset("tile"), dtype::float32, golden_list::finite},
    {"systematic_full_elias_fano",
     {sampling::systematic, values::full, index::elias_fano, norm::l1, 8, 0.1, 1.0},
     dtype::float32,
     golden_list::finite},
    {"sign1", preset("sign1"), dtype::float16, golden_list::finite},
    {"paper", preset("paper"), dtype::bfloat16, golden_list::non_finite},
    {"block", preset("block"), dtype::float32, golden_list::finite},
    {"systematic_sign_bitmap",
     {sampling::systematic, values::sign, index::bitmap, norm::l1, 2, 0.3, 1.0},
     dtype::float32,
     golden_list::non_finite},
    {"systematic_bf16_u32_l2",
     {sampling::systematic, values::bf16, index::u32, norm::l2, 5, 0.1, 1.0},
     dtype::float16,
     golden_list::finite},
    {"bi_random_sign_elias_fano_l2",
     {sampling::bi_random, values::sign, index::elias_fano, norm::l2, 4, 0.2, 2.0},
     dtype::float16,
     golden_list::finite},
    {"bi_random_full_bitmap",
     {sampling::bi_random, values::full, index::bitmap, norm::l1, 16, 0.2, 1.0},
     dtype::float32,
     golden_list::non_finite},
    {"uniform_bf16_bitmap",
     {sampling::uniform, values::bf16, index::bitmap, norm::l1, 8, 0.1, 1.0},
     dtype::float32,
     golden_list::finite},
    {"uniform_full_elias_fano",
     {sampling::uniform, values::full, index::elias_fano, norm::l1, 1, 0.05, 1.0},
     dtype::bfloat16,
     golden_list::non_finite},
    {"top_full_u32",
     {sampling::top, values::full, index::u32, norm::l2, 0, 0.1, 1.0},
     dtype::bfloat16,
     golden_list::finite},
    {"everything",
     {sampling::uniform, values::full, index::u32, norm::l1, 8, 1.0, 1.0},
     dtype::float32,
     golden_list::finite},
  };
}

inline encoded_packet encode(golden_packet const& golden)
{
  bool const non_finite = golden.list == golden_list::non_finite;
  return {golden.list == golden_list::example ? example_list()
                                              : small_list(golden.type, golden.options.tile, non_finite),
          golden.options};
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
