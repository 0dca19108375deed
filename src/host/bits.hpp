/// Bit strings as packets hold them: bit b is bit b % 64 of little-endian word b / 64.
#pragma once

#include <cstdint>

namespace bird::host {

/// Sets rising bits of a string whose words other threads may set bits of as well.
class bit_setter {
 public:
  explicit bit_setter(std::uint64_t* words) : words_{words} {}
  ~bit_setter() { flush(); }
  bit_setter(bit_setter const&)            = delete;
  bit_setter& operator=(bit_setter const&) = delete;

  void set(std::uint64_t bit)
  {
    if (bit / 64 != word_) {
      flush();
      word_ = bit / 64;
    }
    bits_ |= std::uint64_t{1} << bit % 64;
  }

 private:
  void flush()
  {
    if (bits_ != 0) {
      __atomic_fetch_or(words_ + word_, bits_, __ATOMIC_RELAXED);
      bits_ = 0;
    }
  }
  std::uint64_t* words_;
  std::uint64_t word_ = 0;
  std::uint64_t bits_ = 0;
};

/// Appends groups of bits to a string, from a word's first bit on. The last word is filled up with zeros.
template <class Word>
class bit_appender {
 public:
  explicit bit_appender(Word* words) : next_{words} {}
  ~bit_appender()
  {
    if (filled_ != 0) {
      *next_ = static_cast<Word>(pending_);
    }
  }
  bit_appender(bit_appender const&)            = delete;
  bit_appender& operator=(bit_appender const&) = delete;

  /// @param width at most 32; bits above it are zero
  void append(std::uint64_t bits, std::uint32_t width)
  {
    constexpr std::uint32_t word_bits = 8 * sizeof(Word);
    pending_ |= bits << filled_;
    filled_ += width;
    if (filled_ >= word_bits) {
      *next_++ = static_cast<Word>(pending_);
      filled_ -= word_bits;
      pending_ = filled_ == 0 ? 0 : bits >> (width - filled_);
    }
  }

 private:
  Word* next_;
  std::uint64_t pending_ = 0;
  std::uint32_t filled_  = 0;
};

}  // namespace bird::host
