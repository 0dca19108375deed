/// Packets that the library's encoder writes, for every choice of options.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bird/compressor.hpp"
#include "formula_gradient.hpp"

namespace reference {

class encoded_packet {
 public:
  encoded_packet(std::vector<gradient> const& tensors, bird::compressor_options const& options)
  {
    bird::compressor const codec{options};
    auto const list = views(tensors);
    packet_.resize(codec.packet_capacity(list) / sizeof(block) + 1);
    std::vector<block> scratch(codec.compress_scratch_bytes(list) / sizeof(block) + 1);
    report_ = codec.compress(list, {20231106, 7, 3}, memory_of(packet_), memory_of(scratch), bird::on_host);
  }
  bird::span<std::byte const> bytes() const
  {
    return {reinterpret_cast<std::byte const*>(packet_.data()), report_.packet_bytes};
  }
  bird::compress_report const& report() const { return report_; }

 private:
  struct alignas(16) block {
    std::byte bytes[16];
  };
  static bird::span<std::byte> memory_of(std::vector<block>& blocks)
  {
    return {reinterpret_cast<std::byte*>(blocks.data()), blocks.size() * sizeof(block)};
  }

  std::vector<block> packet_;
  bird::compress_report report_;
};

struct named_options {
  std::string name;
  bird::compressor_options options;
};

/// Every sampling, values and index; norms and tile lengths in turn.
inline std::vector<named_options> all_options()
{
  std::vector<named_options> all;
  constexpr std::uint32_t tiles[] = {0, 1, 3, 8, 64};
  std::size_t turn                = 0;
  for (auto const sampling : {bird::sampling::bi_random, bird::sampling::systematic, bird::sampling::uniform,
                              bird::sampling::top}) {
    for (auto const values : {bird::values::sign, bird::values::full, bird::values::bf16}) {
      for (auto const index : {bird::index::u32, bird::index::bitmap, bird::index::elias_fano}) {
        bird::compressor_options options;
        options.sampling = sampling;
        options.values   = values;
        options.index    = index;
        options.norm     = turn % 2 == 0 ? bird::norm::l1 : bird::norm::l2;
        options.tile     = tiles[turn % 5];
        options.ratio    = 0.2;
        ++turn;
        all.push_back({std::string{bird::to_string(sampling)} + "_" + bird::to_string(values) + "_" +
                         bird::to_string(index) + "_" + bird::to_string(options.norm) + "_tile" +
                         std::to_string(options.tile),
                       options});
      }
    }
  }
  return all;
}

}  // namespace reference
