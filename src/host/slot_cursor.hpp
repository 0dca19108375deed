/// Walks the slots of a packet in order, whatever its index coding.
#pragma once

#include "bird/packet.hpp"
#include "packet_layout.cuh"

namespace bird::host {

/// Stands on one slot; slots rise with their tiles. The packet has been parsed, so its index is sound.
class slot_cursor {
 public:
  /// On the first slot whose tile is not below `first_tile`.
  slot_cursor(packet_view const& packet, std::uint64_t first_tile);

  [[nodiscard]] bool done() const { return slot_ == count_; }
  /// Number of the slot in the packet.
  [[nodiscard]] std::uint64_t slot() const { return slot_; }
  /// Tile that the slot names, among all of the list; past the last slot a number above every tile.
  [[nodiscard]] std::uint64_t tile() const { return tile_; }
  void advance()
  {
    ++slot_;
    read();
  }

 private:
  static constexpr std::uint64_t past_all = ~std::uint64_t{0};

  void read()
  {
    if (slot_ == count_) {
      tile_ = past_all;
      return;
    }
    switch (kind_) {
      case index::u32:
        tile_ = numbers_[slot_];
        return;
      case index::bitmap:
        if (starts_ == nullptr || (starts_[slot_ / 64] >> slot_ % 64 & 1) != 0) {
          tile_ = next_bit();
        }
        return;
      case index::elias_fano:
        tile_ = code_.number(next_bit(), slot_, rule::read_bits(lower_, slot_ * low_bits_, low_bits_));
        return;
    }
  }

  /// Takes the next set bit of the bitmap or of the upper part.
  std::uint64_t next_bit()
  {
    while (pending_ == 0) {
      pending_ = bits_[++word_];
    }
    auto const bit = static_cast<std::uint64_t>(__builtin_ctzll(pending_));
    pending_ &= pending_ - 1;
    return word_ * 64 + bit;
  }

  void seek_number(std::uint64_t first_tile);
  void seek_bitmap(std::uint64_t first_tile);
  void seek_elias_fano(std::uint64_t first_tile);

  index kind_;
  std::uint64_t count_;
  std::uint32_t const* numbers_ = nullptr;
  std::uint64_t const* bits_    = nullptr;  ///< bitmap, or upper part
  std::uint64_t const* starts_  = nullptr;
  std::uint64_t const* lower_   = nullptr;
  rule::elias_fano code_;
  std::uint32_t low_bits_;
  std::uint64_t word_    = 0;
  std::uint64_t pending_ = 0;  ///< bits of the current word that have not been taken
  std::uint64_t slot_    = 0;
  std::uint64_t tile_    = 0;
};

}  // namespace bird::host
