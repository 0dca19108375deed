/// draw: the random numbers of a sample, as a pure function of (key, segment, purpose, number).
///
///   sample_key (seed, step, tensor id) --philox--> stream_key (64 bits)
///   counter    [ number / 4 (64 bits) | segment | purpose ]  --philox(stream_key)-->  four 32-bit words
///
/// Nothing is stored or advanced: launch shape, thread count, device and rank cannot matter. Equal
/// lengths, successive steps and neighbouring tensor ids give unrelated streams, because all of them
/// pass through the generator before they become a key.
#pragma once

#include "philox.cuh"

namespace bird::rule {

/// What a word is drawn for; keeps the stages of one sample independent of each other.
enum class purpose : std::uint32_t {
  derive_key = 0x6B657973U,  ///< of the stream key itself
  survive    = 1,            ///< bi_random, stage 1: one word a tile
  thin       = 2,            ///< bi_random, stage 2: one word a tile
  offset     = 3,            ///< systematic: two words a segment
  stratum    = 4,            ///< uniform: one word a slot
  zero_sign  = 5,            ///< sign of an element that is exactly zero: one bit an element
};

/// Key of all draws of one packet.
BIRD_RULE philox_key stream_key(std::uint64_t seed, std::uint32_t step, std::uint32_t tensor_id)
{
  philox_block const counter{{step, tensor_id, static_cast<std::uint32_t>(purpose::derive_key), 0}};
  philox_key const key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  philox_block const block = philox(counter, key);
  return {{block.word[0], block.word[1]}};
}

/// Four words: numbers 4 * block .. 4 * block + 3 of the stream.
BIRD_RULE philox_block draw_block(philox_key key, std::uint32_t segment, purpose what, std::uint64_t block)
{
  return philox({{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), segment,
                  static_cast<std::uint32_t>(what)}},
                key);
}

/// Word number `number` of the stream.
BIRD_RULE std::uint32_t draw(philox_key key, std::uint32_t segment, purpose what, std::uint64_t number)
{
  return draw_block(key, segment, what, number / 4).word[number % 4];
}

/// Bit of a zero element: element `offset` of tile `tile` of a segment. A tile's bits come in blocks of 128,
/// and tiles and segments have blocks of their own, so no two elements of a packet share one.
BIRD_RULE std::uint32_t zero_sign_bit(philox_key key, std::uint32_t segment, std::uint32_t tile,
                                      std::uint32_t offset)
{
  philox_block const block =
    philox({{offset / 128, tile, segment, static_cast<std::uint32_t>(purpose::zero_sign)}}, key);
  return block.word[(offset / 32) % 4] >> (offset % 32) & 1U;
}

/// An integer in [0, bound) from 64 random bits; probabilities are off by less than 2^-64.
BIRD_RULE std::uint64_t below(std::uint64_t bound, std::uint64_t random)
{
  return static_cast<std::uint64_t>(static_cast<uint128>(random) * bound >> 64);
}

}  // namespace bird::rule
