#include "input.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <utility>

#include "peers/quantize.hpp"

namespace bird::bench {
namespace {

constexpr std::size_t scale_elements = 256;
constexpr std::uint64_t seed         = 20261130;

/// A small generator, since each run of 256 elements has one of its own: any thread may make any run.
struct splitmix64 {
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  std::uint64_t state;

  result_type operator()()
  {
    std::uint64_t x = state += 0x9E3779B97F4A7C15ULL;
    x               = (x ^ x >> 30U) * 0xBF58476D1CE4E5B9ULL;
    x               = (x ^ x >> 27U) * 0x94D049BB133111EBULL;
    return x ^ x >> 31U;
  }
};

void make_gradient(peers::array<float>& x)
{
  std::size_t const runs = (x.size() + scale_elements - 1) / scale_elements;
#pragma omp parallel for schedule(static)
  for (std::size_t run = 0; run < runs; ++run) {
    splitmix64 generator{splitmix64{seed + run}()};
    std::normal_distribution<float> normal;
    float const scale     = 1e-3F * std::exp(normal(generator));
    std::size_t const end = std::min(x.size(), (run + 1) * scale_elements);
    for (std::size_t i = run * scale_elements; i < end; ++i) {
      x[i] = scale * normal(generator);
    }
  }
}

/// Rounded to nearest, ties to even. Inputs are finite.
std::uint16_t bfloat_of(float x)
{
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
}

}  // namespace

inputs::inputs(std::string const& safetensors_file)
{
  // The format: eight bytes with the length of a JSON header, the header, then all tensors without gaps.
  std::ifstream in{safetensors_file, std::ios::binary};
  std::vector<char> const bytes{std::istreambuf_iterator<char>{in}, {}};
  std::uint64_t header = 0;
  if (bytes.size() > sizeof(header)) {
    std::memcpy(&header, bytes.data(), sizeof(header));
  }
  if (header == 0 || header >= bytes.size() - sizeof(header)) {
    throw bad_gradients{"--gradients: '" + safetensors_file + "' is not a readable safetensors file"};
  }
  std::string const names(bytes.data() + sizeof(header), header);
  for (std::size_t at = 0; (at = names.find("\"dtype\"", at)) != std::string::npos; ++at) {
    if (names.compare(names.find('"', at + 7), 5, "\"F32\"") != 0) {
      throw bad_gradients{"--gradients: '" + safetensors_file + "' holds tensors that are not F32"};
    }
  }
  std::size_t const start = sizeof(header) + header;
  file_.resize((bytes.size() - start) / sizeof(float));
  if (file_.empty()) {
    throw bad_gradients{"--gradients: '" + safetensors_file + "' holds no elements"};
  }
  std::memcpy(file_.data(), bytes.data() + start, file_.size() * sizeof(float));
}

span<float const> inputs::gradient(std::size_t count)
{
  peers::array<float>& x = gradients_[count];
  if (x.size() == 0) {
    x = peers::array<float>{count};
    if (file_.empty()) {
      make_gradient(x);
    } else {
      for (std::size_t i = 0; i < count; ++i) {
        x[i] = file_[i % file_.size()];
      }
    }
  }
  return {x.data(), x.size()};
}

const_tensor_view inputs::tensor(std::size_t count, dtype type)
{
  span<float const> const x = gradient(count);
  if (type == dtype::float32) {
    return {x.data(), count, type};
  }
  peers::array<std::uint16_t>& narrow = sixteen_bit_[{count, type}];
  if (narrow.size() == 0) {
    narrow = peers::array<std::uint16_t>{count};
    if (type == dtype::float16) {
      peers::half_cast(x, narrow.data());
    } else {
      std::transform(x.begin(), x.end(), narrow.begin(), bfloat_of);
    }
  }
  return {narrow.data(), count, type};
}

span<std::byte> inputs::output(std::string const& name, std::size_t bytes)
{
  peers::array<std::byte>& memory = outputs_[{name, bytes}];
  if (memory.size() == 0) {
    memory = peers::array<std::byte>{bytes};
    std::memset(memory.data(), 0x55, bytes);
  }
  return {memory.data(), bytes};
}

}  // namespace bird::bench
