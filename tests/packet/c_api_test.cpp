/// The C interface: what C++ can express by types it checks by name, and nothing is thrown through it.
#include "bird/bird.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "bird/compressor.hpp"

namespace {

struct alignas(16) block {
  std::uint8_t bytes[16];
};

/// A failing call must return `result` and leave a message with `text`.
#define EXPECT_FAILS(call, result, text)                                    \
  do {                                                                      \
    EXPECT_EQ(call, result);                                                \
    EXPECT_NE(std::string{bird_last_error()}.find(text), std::string::npos) \
      << "the message is: " << bird_last_error();                           \
  } while (false)

class CApi : public testing::Test {
 protected:
  void SetUp() override
  {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = static_cast<float>(i % 13) - 6;
    }
    ASSERT_EQ(bird_compressor_create(&config, &codec), BIRD_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(bird_compressor_destroy(codec), BIRD_SUCCESS); }

  bird_tensor tensor_of(std::vector<float>& memory)
  {
    return {memory.data(), shape, nullptr, 2, BIRD_FLOAT32, BIRD_SAMPLED, 0};
  }

  /// Compresses `elements`; fails the test if that fails.
  void compress()
  {
    std::size_t capacity = 0, scratch_bytes = 0;
    ASSERT_EQ(bird_packet_capacity(codec, &input, 1, &capacity), BIRD_SUCCESS);
    ASSERT_EQ(bird_compress_scratch_bytes(codec, &input, 1, &scratch_bytes), BIRD_SUCCESS);
    packet.resize(capacity / sizeof(block) + 1);
    scratch.resize(scratch_bytes / sizeof(block) + 1);
    ASSERT_EQ(bird_compress(codec, &input, 1, key, packet.data(), capacity, scratch.data(), scratch_bytes,
                            &report, bird_host_stream()),
              BIRD_SUCCESS)
      << bird_last_error();
  }
  bird_result compress_again(bird_tensor const* tensors, void* to, std::size_t bytes, bird_stream stream)
  {
    return bird_compress(codec, tensors, 1, key, to, bytes, scratch.data(), scratch.size() * sizeof(block),
                         nullptr, stream);
  }

  std::int64_t const shape[2] = {40, 25};
  std::vector<float> elements = std::vector<float>(1000);
  std::vector<float> decoded  = std::vector<float>(1000, 99.0F);
  bird_config config          = BIRD_CONFIG_INITIALIZER;
  bird_compressor* codec      = nullptr;
  bird_key const key          = {7, 8, 9};
  bird_tensor input           = tensor_of(elements);
  bird_tensor output          = tensor_of(decoded);
  bird_report report{};
  std::vector<block> packet, scratch;
};

TEST_F(CApi, GivesTheBytesThatTheCppInterfaceGives)
{
  ASSERT_NO_FATAL_FAILURE(compress());
  bird::compressor const cpp{bird::preset("tile")};
  std::vector<bird::const_tensor_view> const tensors{{elements.data(), 1000, bird::dtype::float32, 25}};
  std::vector<block> other(packet.size());
  auto const done =
    cpp.compress(tensors, {7, 8, 9}, {reinterpret_cast<std::byte*>(other.data()), other.size() * 16},
                 {reinterpret_cast<std::byte*>(scratch.data()), scratch.size() * 16}, bird::on_host);
  ASSERT_EQ(report.packet_bytes, done.packet_bytes);
  EXPECT_EQ(std::memcmp(packet.data(), other.data(), done.packet_bytes), 0);
  EXPECT_EQ(report.kept_slots, done.kept_slots);
  EXPECT_EQ(report.tiles, 125U);
  EXPECT_EQ(report.dense_bytes, 4000U);
  EXPECT_EQ(report.omega, done.omega);
}

TEST_F(CApi, TakesTheRowFromTheShape)
{
  config.tile           = 0;
  config.ratio          = 1;
  bird_compressor* rows = nullptr;
  ASSERT_EQ(bird_compressor_create(&config, &rows), BIRD_SUCCESS);
  std::size_t capacity = 0, scratch_bytes = 0;
  ASSERT_EQ(bird_packet_capacity(rows, &input, 1, &capacity), BIRD_SUCCESS);
  ASSERT_EQ(bird_compress_scratch_bytes(rows, &input, 1, &scratch_bytes), BIRD_SUCCESS);
  packet.resize(capacity / sizeof(block) + 1);
  scratch.resize(scratch_bytes / sizeof(block) + 1);
  ASSERT_EQ(bird_compress(rows, &input, 1, key, packet.data(), capacity, scratch.data(), scratch_bytes,
                          &report, bird_host_stream()),
            BIRD_SUCCESS)
    << bird_last_error();
  EXPECT_EQ(report.tiles, 40U);
  bird_compressor_destroy(rows);
}

TEST_F(CApi, AppliesSeveralPacketsWithTheirWeights)
{
  ASSERT_NO_FATAL_FAILURE(compress());
  ASSERT_EQ(bird_decompress(packet.data(), report.packet_bytes, &output, 1, bird_host_stream()),
            BIRD_SUCCESS);
  std::vector<float> sums(1000, 0.0F);
  bird_tensor const target         = tensor_of(sums);
  void const* const packets[]      = {packet.data(), packet.data()};
  std::size_t const packet_bytes[] = {report.packet_bytes, report.packet_bytes};
  float const weights[]            = {0.5F, 2.0F};
  ASSERT_EQ(bird_apply(packets, packet_bytes, weights, 2, &target, 1, bird_host_stream()), BIRD_SUCCESS);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    ASSERT_EQ(sums[i], 0.5F * decoded[i] + 2.0F * decoded[i]) << i;
  }
}

TEST_F(CApi, KeepsAResidualThatTheCallerOwns)
{
  ASSERT_EQ(bird_config_preset("block", &config), BIRD_SUCCESS);
  bird_compressor* block_codec = nullptr;
  ASSERT_EQ(bird_compressor_create(&config, &block_codec), BIRD_SUCCESS);
  packet.resize(1000);
  scratch.resize(10000);
  std::vector<float> residual(1000, 0.0F), velocity(1000, 0.0F);
  float* const residuals[]  = {residual.data()};
  float* const velocities[] = {velocity.data()};
  ASSERT_EQ(bird_compress_with_feedback(block_codec, &input, 1, key, packet.data(), packet.size() * 16,
                                        scratch.data(), scratch.size() * 16, residuals, velocities, 0.9F,
                                        nullptr, bird_host_stream()),
            BIRD_SUCCESS)
    << bird_last_error();
  EXPECT_NE(residual, std::vector<float>(1000, 0.0F));
  EXPECT_FAILS(bird_compress_with_feedback(block_codec, &input, 1, key, packet.data(), packet.size() * 16,
                                           scratch.data(), scratch.size() * 16, nullptr, nullptr, 0.0F,
                                           nullptr, bird_host_stream()),
               BIRD_INVALID_ARGUMENT, "residual is NULL");
  bird_compressor_destroy(block_codec);
}

TEST_F(CApi, RefusesAResidualWithASampler)
{
  ASSERT_NO_FATAL_FAILURE(compress());
  std::vector<float> residual(1000, 0.0F);
  float* const residuals[] = {residual.data()};
  EXPECT_FAILS(
    bird_compress_with_feedback(codec, &input, 1, key, packet.data(), packet.size() * 16, scratch.data(),
                                scratch.size() * 16, residuals, nullptr, 0.0F, nullptr, bird_host_stream()),
    BIRD_INVALID_ARGUMENT, "systematic");
}

TEST_F(CApi, PresetsAreThoseOfCpp)
{
  for (char const* name : {"tile", "sign1", "paper", "block"}) {
    bird_config preset{};
    ASSERT_EQ(bird_config_preset(name, &preset), BIRD_SUCCESS);
    auto const options = bird::preset(name);
    EXPECT_EQ(preset.size, sizeof(bird_config));
    EXPECT_EQ(preset.sampling, static_cast<int>(options.sampling));
    EXPECT_EQ(preset.values, static_cast<int>(options.values));
    EXPECT_EQ(preset.index, static_cast<int>(options.index));
    EXPECT_EQ(preset.norm, static_cast<int>(options.norm));
    EXPECT_EQ(preset.tile, options.tile);
    EXPECT_EQ(preset.ratio, options.ratio);
    EXPECT_EQ(preset.gamma, options.gamma);
  }
  bird_config preset{};
  EXPECT_FAILS(bird_config_preset("best", &preset), BIRD_INVALID_ARGUMENT, "preset is \"best\"");
}

TEST_F(CApi, InitializerIsThePresetTile)
{
  bird_config preset{};
  ASSERT_EQ(bird_config_preset("tile", &preset), BIRD_SUCCESS);
  EXPECT_EQ(std::memcmp(&preset, &config, sizeof preset), 0);
}

TEST_F(CApi, ChecksEveryFieldOfAConfig)
{
  bird_compressor* none = nullptr;
  auto const expect     = [&](auto member, auto value, char const* message) {
    bird_config wrong = BIRD_CONFIG_INITIALIZER;
    wrong.*member     = value;
    EXPECT_FAILS(bird_compressor_create(&wrong, &none), BIRD_INVALID_ARGUMENT, message);
    EXPECT_EQ(none, nullptr);
  };
  expect(&bird_config::size, sizeof(bird_config) - 1, "config.size is ");
  expect(&bird_config::size, std::numeric_limits<std::size_t>::max(), "config.size is 18446744073709551615");
  expect(&bird_config::magic, 0U, "config.magic is 0");
  expect(&bird_config::version, 2U, "config.version is 2");
  expect(&bird_config::sampling, 5, "config.sampling is 5");
  expect(&bird_config::sampling, 257, "config.sampling is 257");
  expect(&bird_config::values, 0, "config.values is 0");
  expect(&bird_config::index, -1, "config.index is -1");
  expect(&bird_config::norm, 3, "config.norm is 3");
  expect(&bird_config::blind, 2U, "config.blind is 2");
  expect(&bird_config::ratio, 0.0, "ratio is 0");
  expect(&bird_config::gamma, -1.0, "gamma is -1");
}

TEST_F(CApi, TakesALargerConfigWhoseUnknownPartIsZero)
{
  struct later_config {
    bird_config known   = BIRD_CONFIG_INITIALIZER;
    std::uint64_t added = 0;
  } later;
  later.known.size       = sizeof later;
  bird_compressor* other = nullptr;
  ASSERT_EQ(bird_compressor_create(&later.known, &other), BIRD_SUCCESS);
  bird_compressor_destroy(other);
  later.added = 1;
  EXPECT_FAILS(bird_compressor_create(&later.known, &other), BIRD_INVALID_ARGUMENT, "config byte ");
}

TEST_F(CApi, NamesEveryPointerThatIsNull)
{
  ASSERT_NO_FATAL_FAILURE(compress());
  bird_stream const host = bird_host_stream();
  std::size_t bytes      = 0;
  EXPECT_FAILS(bird_config_preset(nullptr, &config), BIRD_INVALID_ARGUMENT, "name is NULL");
  EXPECT_FAILS(bird_config_preset("tile", nullptr), BIRD_INVALID_ARGUMENT, "config is NULL");
  bird_compressor* other = nullptr;
  EXPECT_FAILS(bird_compressor_create(nullptr, &other), BIRD_INVALID_ARGUMENT, "config is NULL");
  EXPECT_FAILS(bird_compressor_create(&config, nullptr), BIRD_INVALID_ARGUMENT, "compressor is NULL");
  EXPECT_FAILS(bird_packet_capacity(nullptr, &input, 1, &bytes), BIRD_INVALID_ARGUMENT, "compressor is NULL");
  EXPECT_FAILS(bird_packet_capacity(codec, nullptr, 1, &bytes), BIRD_INVALID_ARGUMENT, "tensors is NULL");
  EXPECT_FAILS(bird_packet_capacity(codec, &input, 1, nullptr), BIRD_INVALID_ARGUMENT, "bytes is NULL");
  EXPECT_FAILS(bird_compress_scratch_bytes(nullptr, &input, 1, &bytes), BIRD_INVALID_ARGUMENT,
               "compressor is NULL");
  EXPECT_FAILS(compress_again(&input, nullptr, 1 << 20, host), BIRD_INVALID_ARGUMENT, "packet is NULL");
  EXPECT_FAILS(compress_again(nullptr, packet.data(), 1 << 20, host), BIRD_INVALID_ARGUMENT,
               "tensors is NULL");
  EXPECT_FAILS(bird_decompress(nullptr, 64, &output, 1, host), BIRD_INVALID_ARGUMENT, "packet is NULL");
  EXPECT_FAILS(bird_packet_bytes(nullptr, 64, &bytes), BIRD_INVALID_ARGUMENT, "packet is NULL");
  EXPECT_FAILS(bird_packet_bytes(packet.data(), 64, nullptr), BIRD_INVALID_ARGUMENT, "bytes is NULL");
  void const* const packets[] = {nullptr};
  std::size_t const sizes[]   = {64};
  EXPECT_FAILS(bird_apply(nullptr, sizes, nullptr, 1, &output, 1, host), BIRD_INVALID_ARGUMENT,
               "packets is NULL");
  EXPECT_FAILS(bird_apply(packets, nullptr, nullptr, 1, &output, 1, host), BIRD_INVALID_ARGUMENT,
               "packet_bytes is NULL");
  EXPECT_FAILS(bird_apply(packets, sizes, nullptr, 1, &output, 1, host), BIRD_INVALID_ARGUMENT,
               "packets[0] is NULL");
  EXPECT_EQ(bird_compressor_destroy(nullptr), BIRD_SUCCESS);
}

TEST_F(CApi, NamesTheTensorAndTheFieldThatIsWrong)
{
  std::size_t bytes                = 0;
  std::int64_t const negative[2]   = {40, -25};
  std::int64_t const transposed[2] = {1, 40};
  auto const expect                = [&](auto member, auto value, char const* message) {
    bird_tensor tensors[2] = {input, input};
    tensors[1].*member     = value;
    EXPECT_FAILS(bird_packet_capacity(codec, tensors, 2, &bytes), BIRD_INVALID_ARGUMENT, message);
  };
  expect(&bird_tensor::shape, nullptr, "tensors[1]: shape is NULL");
  expect(&bird_tensor::shape, negative, "tensors[1]: shape[1] is -25");
  expect(&bird_tensor::strides, transposed, "tensors[1]: strides[1] is 40");
  expect(&bird_tensor::ndim, -1, "tensors[1]: ndim is -1");
  expect(&bird_tensor::dtype, 4, "tensors[1]: dtype is 4");
  expect(&bird_tensor::role, 0, "tensors[1]: role is 0");
  expect(&bird_tensor::reserved, 1, "tensors[1]: reserved is 1");
}

TEST_F(CApi, TakesATensorOfNoDimensionsAsOneElement)
{
  ASSERT_NO_FATAL_FAILURE(compress());
  bird_tensor scalar = input;
  scalar.ndim        = 0;
  scalar.shape       = nullptr;
  ASSERT_EQ(bird_compress(codec, &scalar, 1, key, packet.data(), packet.size() * 16, scratch.data(),
                          scratch.size() * 16, &report, bird_host_stream()),
            BIRD_SUCCESS);
  EXPECT_EQ(report.dense_bytes, 4U);
}

TEST_F(CApi, RefusesAPacketBufferBelowTheCapacity)
{
  ASSERT_NO_FATAL_FAILURE(compress());
  std::size_t capacity = 0;
  ASSERT_EQ(bird_packet_capacity(codec, &input, 1, &capacity), BIRD_SUCCESS);
  EXPECT_FAILS(compress_again(&input, packet.data(), capacity - 1, bird_host_stream()), BIRD_INVALID_ARGUMENT,
               "packet: " + std::to_string(capacity - 1) + " bytes");
  EXPECT_FAILS(compress_again(&input, packet[0].bytes + 1, capacity, bird_host_stream()),
               BIRD_INVALID_ARGUMENT, "packet: address");
}

TEST_F(CApi, RefusesHostMemoryOnAStreamThatIsNotTheHosts)
{
  ASSERT_NO_FATAL_FAILURE(compress());
  ASSERT_NE(bird_host_stream(), nullptr);
  int other = 0;
  for (bird_stream const stream : {static_cast<bird_stream>(nullptr), static_cast<bird_stream>(&other)}) {
    bird_result const result = compress_again(&input, packet.data(), packet.size() * 16, stream);
    // The runtime's, where the library has device code but the machine has no device.
    EXPECT_TRUE(result == BIRD_INVALID_ARGUMENT || result == BIRD_CUDA_ERROR) << bird_last_error();
  }
}

TEST_F(CApi, TellsTheCallersFaultFromTheSenders)
{
  ASSERT_NO_FATAL_FAILURE(compress());
  bird_stream const host        = bird_host_stream();
  std::int64_t const shorter[2] = {40, 24};
  bird_tensor small             = output;
  small.shape                   = shorter;
  EXPECT_FAILS(bird_decompress(packet.data(), report.packet_bytes, &small, 1, host), BIRD_INVALID_ARGUMENT,
               "count is 960");
  packet[2].bytes[0] ^= 1;
  EXPECT_FAILS(bird_decompress(packet.data(), report.packet_bytes, &output, 1, host), BIRD_BAD_PACKET,
               "packet");
  EXPECT_EQ(decoded, std::vector<float>(1000, 99.0F)) << "written although the packet is bad";
}

TEST_F(CApi, TellsAPacketsSizeFromItsStart)
{
  ASSERT_NO_FATAL_FAILURE(compress());
  std::size_t bytes = 0;
  EXPECT_EQ(bird_packet_bytes(packet.data(), 64 + 32, &bytes), BIRD_SUCCESS);
  EXPECT_EQ(bytes, report.packet_bytes);
  EXPECT_FAILS(bird_packet_bytes(packet.data(), 64 + 31, &bytes), BIRD_BAD_PACKET, "segment_count is 1");
}

TEST_F(CApi, LastErrorIsTheThreadsOwn)
{
  EXPECT_FAILS(bird_config_preset("mine", &config), BIRD_INVALID_ARGUMENT, "mine");
  std::thread{[] {
    EXPECT_STREQ(bird_last_error(), "");
    bird_config other{};
    EXPECT_FAILS(bird_config_preset("theirs", &other), BIRD_INVALID_ARGUMENT, "theirs");
  }}.join();
  EXPECT_NE(std::string{bird_last_error()}.find("mine"), std::string::npos);
}

TEST_F(CApi, LastErrorIsCutWhereItWouldBeTooLong)
{
  std::string const name(5000, 'x');
  EXPECT_FAILS(bird_config_preset(name.c_str(), &config), BIRD_INVALID_ARGUMENT, "preset is \"xxx");
  EXPECT_LT(std::strlen(bird_last_error()), 600U);
}

TEST_F(CApi, LearningRateIsThatOfCppAndNanForNonsense)
{
  EXPECT_EQ(bird_noise_adjusted_learning_rate(0.1, 4, 4), bird::noise_adjusted_learning_rate(0.1, 4, 4));
  EXPECT_TRUE(std::isnan(bird_noise_adjusted_learning_rate(0.1, 4, 0)));
}

TEST_F(CApi, NamesItsResultsAndItsVersion)
{
  EXPECT_STREQ(bird_result_string(BIRD_SUCCESS), "success");
  EXPECT_STREQ(bird_result_string(BIRD_BAD_PACKET), "bad packet");
  EXPECT_STREQ(bird_result_string(static_cast<bird_result>(7)), "unknown result");
  EXPECT_EQ(std::string{bird_version()}.find("0."), 0U);
}

}  // namespace
