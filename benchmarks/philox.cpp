/// philox: random words by the vector, against one block at a time and against other libraries' generator.
#include <memory>
#include <stdexcept>
#include <vector>

#include "host/philox.hpp"
#include "rows.hpp"

#if __has_include(<Random123/philox.h>)
#include <Random123/philox.h>
#endif

#if BIRD_HAVE_CURAND
#include "peers/curand_philox.hpp"
#endif

namespace bird::bench {
namespace {

constexpr std::size_t word_count = 1U << 16U;  // 256 KiB: stays in the second-level cache
constexpr rule::philox_key key{{0x12345678U, 0x9ABCDEF0U}};
constexpr std::uint32_t segment = 7;
constexpr auto what             = rule::purpose::survive;

void fill_scalar(std::uint64_t first_block, span<std::uint32_t> words)
{
  for (std::size_t block = 0; block < words.size() / 4; ++block) {
    rule::philox_block const drawn = rule::draw_block(key, segment, what, first_block + block);
    for (std::size_t word = 0; word < 4; ++word) {
      words[4 * block + word] = drawn.word[word];
    }
  }
}

#if __has_include(<Random123/philox.h>)
void fill_random123(std::uint64_t first_block, span<std::uint32_t> words)
{
  r123::Philox4x32 const generator;
  for (std::size_t block = 0; block < words.size() / 4; ++block) {
    std::uint64_t const number = first_block + block;
    r123::Philox4x32::ctr_type const drawn =
      generator({{static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32U), segment,
                  static_cast<std::uint32_t>(what)}},
                {{key.word[0], key.word[1]}});
    for (std::size_t word = 0; word < 4; ++word) {
      words[4 * block + word] = drawn[word];
    }
  }
}
#endif

#if BIRD_HAVE_CURAND
void fill_curand(std::uint64_t first_block, span<std::uint32_t> words)
{
  peers::curand_philox(key.word, segment, static_cast<std::uint32_t>(what), first_block, words);
}
#endif

void fill_ours(std::uint64_t first_block, span<std::uint32_t> words)
{
  host::philox_fill(key, segment, what, first_block, words);
}

template <class Fill>
std::string measure(suite& rows, char const* name, Fill fill)
{
  auto const words = static_cast<double>(word_count);
  rows.measure({name, 1, {words * sizeof(std::uint32_t), words}, [=] {
                  auto const drawn    = std::make_shared<std::vector<std::uint32_t>>(word_count);
                  auto const expected = std::make_unique<std::vector<std::uint32_t>>(word_count);
                  fill(1000, *drawn);
                  fill_scalar(1000, *expected);
                  if (*drawn != *expected) {
                    throw std::runtime_error{"words differ from the rule's"};
                  }
                  return [=, block = std::uint64_t{0}]() mutable {
                    fill(block, *drawn);
                    block += word_count / 4;
                  };
                }});
  return name;
}

}  // namespace

void add_philox(suite& rows, inputs&, axes const&)
{
  std::string const ours = measure(rows, "philox_fill", fill_ours);
  auto const row = [&](char const* reference_name, std::string const& reference, std::optional<double> goal) {
    rows.compare({std::string{"Philox by the vector / "} + reference_name + ", 64K words, 1 thread",
                  ours,
                  {reference},
                  unit::gigabytes_per_second,
                  goal});
  };
  row("scalar", measure(rows, "rule::draw_block", fill_scalar), 4.0);
#if __has_include(<Random123/philox.h>)
  row("Random123", measure(rows, "Random123", fill_random123), std::nullopt);
#endif
#if BIRD_HAVE_CURAND
  row("cuRAND's header", measure(rows, "cuRAND", fill_curand), std::nullopt);
#endif
}

}  // namespace bird::bench
