/// Any bytes either parse or throw bad_packet; what parses is decoded as the specification says, and neither
/// decompress() nor apply() writes outside the tensors.
///
/// With clang's -fsanitize=fuzzer this is a libFuzzer target. Otherwise fuzz_driver.cpp is linked to it and
/// runs a corpus and a number of seeded mutations.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "bird/compressor.hpp"
#include "packet_builder.hpp"
#include "packet_fuzz.hpp"

namespace {

constexpr std::uint64_t most_elements = 1 << 16;  ///< a longer packet is only parsed
constexpr std::size_t guard           = 64;
constexpr std::uint8_t poison         = 0xA5;

std::uint64_t parsed = 0;

[[noreturn]] void fail(char const* what)
{
  std::fprintf(stderr, "packet_fuzz: %s\n", what);
  std::abort();
}

/// Tensors of the packet's sizes, each between guards.
class guarded_tensors {
 public:
  guarded_tensors(bird::packet_view const& packet, bird::dtype type)
  {
    for (bird::segment_entry const& segment : packet.segments) {
      std::size_t const bytes = segment.count * bird::element_bytes(type);
      memory_.emplace_back(guard + bytes + guard, poison);
      std::memset(memory_.back().data() + guard, 0, bytes);
      views_.push_back({memory_.back().data() + guard, segment.count, type});
    }
  }
  bird::span<bird::tensor_view const> views() const { return views_; }

  void check_guards() const
  {
    for (std::vector<std::uint8_t> const& bytes : memory_) {
      for (std::size_t i = 0; i < guard; ++i) {
        if (bytes[i] != poison || bytes[bytes.size() - 1 - i] != poison) {
          fail("a tensor's neighbourhood was written");
        }
      }
    }
  }

  void check_equal(std::vector<std::vector<float>> const& expected) const
  {
    for (std::size_t tensor = 0; tensor < expected.size(); ++tensor) {
      for (std::size_t i = 0; i < expected[tensor].size(); ++i) {
        float have;
        std::memcpy(&have, memory_[tensor].data() + guard + 4 * i, sizeof have);
        float const want = expected[tensor][i];
        bool const same =
          std::isnan(want) ? std::isnan(have) : reference::bits_of(want) == reference::bits_of(have);
        if (!same) {
          std::fprintf(stderr, "tensor %zu element %zu: %a instead of %a\n", tensor, i,
                       static_cast<double>(have), static_cast<double>(want));
          fail("decoded otherwise than specified");
        }
      }
    }
  }

 private:
  std::vector<std::vector<std::uint8_t>> memory_;
  std::vector<bird::tensor_view> views_;
};

void check_decoders(bird::span<std::byte const> bytes, bird::packet_view const& packet)
{
  auto expected = reference::decode(reinterpret_cast<std::uint8_t const*>(bytes.data()));
  if (expected.bytes != packet.bytes.size()) {
    fail("the packet ends elsewhere than specified");
  }
  guarded_tensors floats{packet, bird::dtype::float32};
  bird::decompress(bytes, floats.views(), bird::on_host);
  floats.check_guards();
  floats.check_equal(expected.elements);

  auto const type = packet.header.seed % 2 == 0 ? bird::dtype::float16 : bird::dtype::bfloat16;
  guarded_tensors halves{packet, type};
  bird::decompress(bytes, halves.views(), bird::on_host);
  bird::weighted_packet const twice[] = {{bytes, 0.5F}, {bytes, -3.0F}};
  bird::apply(twice, halves.views(), bird::on_host);
  bird::apply(twice, floats.views(), bird::on_host);
  halves.check_guards();
  floats.check_guards();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  // A copy of exactly this size, so that AddressSanitizer sees any read behind it.
  struct free_memory {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::unique_ptr<std::byte, free_memory> const copy{static_cast<std::byte*>(std::malloc(size))};
  if (size != 0) {
    std::memcpy(copy.get(), data, size);
  }
  bird::span<std::byte const> const bytes{copy.get(), size};
  bird::packet_view packet{};
  try {
    packet = bird::parse_packet(bytes);
  } catch (bird::bad_packet const&) {
    return 0;
  }
  if (packet.bytes.size() > size || packet.bytes.size() != bird::packet_bytes(bytes)) {
    fail("the packet does not lie inside its bytes");
  }
  ++parsed;
  if (packet.header.element_count <= most_elements) {
    check_decoders(bytes, packet);
  }
  return 0;
}

std::uint64_t parsed_inputs() { return parsed; }

/// Makes what a mutation broke whole again, so that the parser's later checks are reached as well.
void repair(std::uint8_t* data, std::size_t size, std::uint32_t how)
{
  if (size < 64) {
    return;
  }
  reference::bytes packet(data, data + size);
  std::uint64_t const in_table = (size - 64) / 32;
  std::uint64_t const segments = reference::number(data, 12, 4);
  if (how % 4 != 0) {  // sums and capacity
    std::uint64_t elements = 0, slots = 0, flags = 0;
    for (std::uint64_t i = 0; i < segments && i < in_table; ++i) {
      std::uint64_t const at = 64 + 32 * i;
      elements += reference::number(data, at, 8);
      slots += data[at + 12] == reference::role_sampled ? reference::number(data, at + 16, 4) : 0;
      flags |= data[at + 13];
    }
    reference::put(packet, 7, flags, 1);
    reference::put(packet, 16, elements, 8);
    reference::put(packet, 24, size, 8);
    reference::put(packet, 32, slots, 8);
  }
  if (how / 4 % 16 != 0) {
    reference::put(packet, 60, reference::checksum(packet.data(), size / 4 * 4), 4);
  }
  std::memcpy(data, packet.data(), size);
}
