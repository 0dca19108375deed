/// packet_checksum, by the vector where 64-bit products are cheap; rule::checksum_term is the specification.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "checksum.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstring>

#include "packet.hpp"
#include "packet_layout.cuh"

HWY_BEFORE_NAMESPACE();
namespace bird::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sum of the terms of words first, first + 1, ... of a packet.
std::uint64_t sum_of_terms(std::byte const* words, std::uint64_t first, std::uint64_t count)
{
  std::uint64_t i   = 0;
  std::uint64_t sum = 0;
#if HWY_TARGET <= HWY_AVX3
  hn::ScalableTag<std::uint64_t> const d;
  constexpr std::uint64_t lanes = hn::MaxLanes(hn::ScalableTag<std::uint64_t>{});
  auto const factor             = hn::Set(d, std::uint64_t{rule::checksum_factor});
  auto const step               = hn::Set(d, lanes * rule::checksum_step);
  auto place = hn::Mul(hn::Iota(d, first + 1), hn::Set(d, std::uint64_t{rule::checksum_step}));
  auto sums  = hn::Zero(d);
  for (; i + lanes <= count; i += lanes) {
    auto const word = hn::LoadU(d, reinterpret_cast<std::uint64_t const*>(words) + i);
    auto x          = hn::Add(word, place);
    x               = hn::Mul(hn::Xor(x, hn::ShiftRight<32>(x)), factor);
    sums            = hn::Add(sums, hn::Xor(x, hn::ShiftRight<29>(x)));
    place           = hn::Add(place, step);
  }
  std::uint64_t all[lanes];
  hn::StoreU(sums, d, all);
  for (std::uint64_t lane : all) {
    sum += lane;
  }
#endif
  for (; i < count; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, words + 8 * i, sizeof word);
    sum += rule::checksum_term(first + i, word);
  }
  return sum;
}

}  // namespace bird::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bird {
namespace {

HWY_EXPORT(sum_of_terms);

constexpr std::uint64_t part_words     = 1ULL << 15;
constexpr std::uint64_t parallel_parts = 16;  // 4 MiB; below it a team costs more than it saves
constexpr std::uint64_t own_word       = offsetof(packet_header, checksum) / 8;  // its upper half

std::uint64_t word_at(span<std::byte const> packet, std::uint64_t position, std::size_t bytes)
{
  std::uint64_t word = 0;
  std::memcpy(&word, packet.data() + 8 * position, bytes);
  return word;
}

}  // namespace

std::uint32_t packet_checksum(span<std::byte const> packet)
{
  std::uint64_t const whole = packet.size() / 8;
  auto const parts          = static_cast<std::int64_t>(rule::ceil_div(whole, part_words));
  std::uint64_t sum         = 0;
#pragma omp parallel for reduction(+ : sum) if (whole / part_words > parallel_parts)
  for (std::int64_t part = 0; part < parts; ++part) {
    std::uint64_t const first = static_cast<std::uint64_t>(part) * part_words;
    std::uint64_t const count = whole - first < part_words ? whole - first : part_words;
    sum += HWY_DYNAMIC_DISPATCH(sum_of_terms)(packet.data() + 8 * first, first, count);
  }
  if (packet.size() % 8 != 0) {
    sum += rule::checksum_term(whole, word_at(packet, whole, packet.size() % 8));
  }
  std::uint64_t const own = word_at(packet, own_word, 8);  // the field itself counts as zero
  sum += rule::checksum_term(own_word, own & 0xFFFFFFFF) - rule::checksum_term(own_word, own);
  return rule::checksum_fold(sum);
}

}  // namespace bird
#endif  // HWY_ONCE
