#include "host/slot_cursor.hpp"

#include <algorithm>

namespace bird::host {
namespace {

std::uint64_t ones(std::uint64_t word) { return static_cast<std::uint64_t>(__builtin_popcountll(word)); }

/// Position of the n-th (from 0) set bit of a word that has more than n.
std::uint64_t select(std::uint64_t word, std::uint64_t n)
{
  for (; n > 0; --n) {
    word &= word - 1;
  }
  return static_cast<std::uint64_t>(__builtin_ctzll(word));
}

}  // namespace

slot_cursor::slot_cursor(packet_view const& packet, std::uint64_t first_tile)
  : kind_{packet.header.index},
    count_{packet.header.slot_count},
    code_{packet.tile_count, packet.header.slot_count},
    low_bits_{code_.low_bits()}
{
  std::byte const* const section = packet.bytes.data() + packet.index_offset;
  if (count_ == 0) {
    read();
    return;
  }
  switch (kind_) {
    case index::u32:
      numbers_ = reinterpret_cast<std::uint32_t const*>(section);
      seek_number(first_tile);
      return;
    case index::bitmap:
      bits_ = reinterpret_cast<std::uint64_t const*>(section);
      if (rule::has_starts(packet.header.sampling, packet.header.index)) {
        starts_ = reinterpret_cast<std::uint64_t const*>(packet.bytes.data() + packet.starts_offset);
      }
      seek_bitmap(first_tile);
      return;
    case index::elias_fano:
      bits_  = reinterpret_cast<std::uint64_t const*>(section);
      lower_ = bits_ + code_.upper_words();
      seek_elias_fano(first_tile);
      return;
  }
}

void slot_cursor::seek_number(std::uint64_t first_tile)
{
  slot_ = static_cast<std::uint64_t>(std::lower_bound(numbers_, numbers_ + count_, first_tile) - numbers_);
  read();
}

void slot_cursor::seek_bitmap(std::uint64_t first_tile)
{
  std::uint64_t distinct = 0;  // tiles before first_tile that are in the packet
  for (; word_ < first_tile / 64; ++word_) {
    distinct += ones(bits_[word_]);
  }
  std::uint64_t const below = (std::uint64_t{1} << first_tile % 64) - 1;
  distinct += ones(bits_[word_] & below);
  pending_ = bits_[word_] & ~below;
  slot_    = distinct;
  if (starts_ != nullptr) {  // the slot that starts tile number `distinct`
    std::uint64_t word = 0;
    for (; word * 64 < count_ && ones(starts_[word]) <= distinct; ++word) {
      distinct -= ones(starts_[word]);
    }
    slot_ = word * 64 < count_ ? word * 64 + select(starts_[word], distinct) : count_;
  }
  read();
}

void slot_cursor::seek_elias_fano(std::uint64_t first_tile)
{
  // The slots of tiles at or above high << l stand behind the high-th zero of the upper part.
  std::uint64_t const high = first_tile >> low_bits_;
  std::uint64_t zeros      = 0;
  while (zeros + (64 - ones(bits_[word_])) < high) {
    zeros += 64 - ones(bits_[word_]);
    ++word_;
  }
  std::uint64_t position = word_ * 64;
  pending_               = bits_[word_];
  if (high > zeros) {
    std::uint64_t const last_zero = select(~bits_[word_], high - zeros - 1);
    position += last_zero + 1;
    pending_ = last_zero == 63 ? 0 : bits_[word_] >> (last_zero + 1) << (last_zero + 1);
  }
  slot_ = position - high;
  read();
  while (tile_ < first_tile) {
    advance();
  }
}

}  // namespace bird::host
