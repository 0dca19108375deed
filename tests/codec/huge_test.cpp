/// More than 2^31 elements: a mapping that is never backed by memory except where it is written.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "codec_call.hpp"
#include "oracle.hpp"
#include "packet_index.hpp"

namespace {

using bird::dtype;
using bird::sampling;
using bird::values;

constexpr std::uint64_t count = (std::uint64_t{1} << 31) + 30'000'001;

/// How the pages of a mapping are made: large ones are found fast when all of it is read, small ones cost
/// little where single elements are written.
enum class pages { large, small };

/// Zero pages that the kernel shares until they are written. Reading them costs time but no memory.
template <class T>
class sparse_tensor {
 public:
  explicit sparse_tensor(pages size)
    : address_{::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)}
  {
    if (mapped()) {
      ::madvise(address_, count * sizeof(T), size == pages::large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    }
  }
  ~sparse_tensor()
  {
    if (mapped()) {
      ::munmap(address_, count * sizeof(T));
    }
  }
  sparse_tensor(sparse_tensor const&)            = delete;
  sparse_tensor& operator=(sparse_tensor const&) = delete;

  [[nodiscard]] bool mapped() const { return address_ != MAP_FAILED; }
  [[nodiscard]] T* data() const { return static_cast<T*>(address_); }

 private:
  void* address_;
};

#define SKIP_UNLESS_MAPPED(tensor)                                                        \
  if (!(tensor).mapped()) {                                                               \
    GTEST_SKIP() << "this machine does not map " << count << " elements without reserve"; \
  }

constexpr std::uint16_t one_half = 0x3C00;  // 1.0 in binary16

/// The tiles that a packet names. (The decoder from the specification would make all elements.)
std::vector<std::uint64_t> tiles_in(codec_test::compressed const& packet)
{
  std::vector<std::uint64_t> tiles;
  bird::for_each_slot(packet.view(), [&](std::uint64_t, std::uint64_t tile) { tiles.push_back(tile); });
  return tiles;
}

void decode_and_check(codec_test::compressed const& got, std::vector<std::uint64_t> const& places)
{
  sparse_tensor<float> const output{pages::small};
  SKIP_UNLESS_MAPPED(output);
  std::vector<bird::tensor_view> const view{{output.data(), count, dtype::float32}};
  std::vector<bird::weighted_packet> const packets{{got.packet, 1.0F}};
  bird::apply(packets, view, bird::on_host);
  for (std::uint64_t const place : places) {
    EXPECT_NE(output.data()[place], 0.0F) << "element " << place;
  }
}

TEST(MoreThan2To31Elements, KeepTheirLastTilesWithLongTiles)
{
  sparse_tensor<std::uint16_t> const input{pages::large};
  SKIP_UNLESS_MAPPED(input);
  std::vector<std::uint64_t> const places{5, (std::uint64_t{1} << 31) + 3, count - 1};
  for (std::uint64_t const place : places) {
    input.data()[place] = one_half;
  }
  std::vector<bird::const_tensor_view> const view{{input.data(), count, dtype::float16}};
  auto const options = codec_test::options_of(sampling::top, values::full, 65'536, 1e-4);
  auto const got     = codec_test::compress(options, view, {1, 2, 3});
  EXPECT_EQ(got.report.dense_bytes, 2 * count);
  EXPECT_EQ(tiles_in(got),
            (std::vector<std::uint64_t>{0, (std::uint64_t{1} << 31) / 65'536, (count - 1) / 65'536}));
  decode_and_check(got, places);
}

// The tiles that a blind uniform sample will draw are known beforehand, so only they need to hold anything.
TEST(MoreThan2To31Elements, MayBeTilesOfTheirOwn)
{
  sparse_tensor<std::uint16_t> const input{pages::small};
  SKIP_UNLESS_MAPPED(input);
  constexpr std::uint64_t slots = 300;
  oracle::stream const random{1, 2, 3};
  std::vector<std::uint64_t> places;
  for (std::uint64_t s = 0; s < slots; ++s) {
    auto const first = static_cast<std::uint64_t>(static_cast<oracle::wide>(s) * count / slots);
    auto const end   = static_cast<std::uint64_t>(static_cast<oracle::wide>(s + 1) * count / slots);
    places.push_back(first + (std::uint64_t{random.word(0, oracle::stratum, s)} * (end - first) >> 32));
    input.data()[places.back()] = one_half;
  }
  ASSERT_GT(places.back(), std::uint64_t{1} << 31);
  std::vector<bird::const_tensor_view> const view{{input.data(), count, dtype::float16}};
  for (bird::index const names : {bird::index::u32, bird::index::elias_fano}) {
    auto options =
      codec_test::options_of(sampling::uniform, values::sign, 1, (slots - 0.5) / static_cast<double>(count),
                             1.0, bird::norm::l1, names);
    options.blind  = true;
    auto const got = codec_test::compress(options, view, {1, 2, 3});
    EXPECT_EQ(got.report.kept_slots, slots);
    EXPECT_EQ(got.report.tiles, count);
    EXPECT_EQ(tiles_in(got), places);
    decode_and_check(got, places);
  }
}

}  // namespace
