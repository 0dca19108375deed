/// What only an emulated device can show: how often the runtime is called, its failures, other schedules, a
/// second device.
#include "device_call.hpp"
#include "emulation.hpp"
#include "packet_pair.hpp"
#include "twin_memory.hpp"

namespace {

using bird_test::call;
using bird_test::device_buffer;
using bird_test::packet_pair;
using bird_test::stream;
using bird_test::twin_list;
using bird_test::twin_memory;
using bird_test::twin_outputs;

class EmulatedDevice : public bird_test::device_test {};

TEST_F(EmulatedDevice, CompressesInTwoKernelsWithoutWaitingOrAllocating)
{
  call const c;
  stream const s;
  emulation::counters const before = emulation::counted();
  c.compress(s);
  EXPECT_EQ(emulation::counted().synchronisations, before.synchronisations);
  EXPECT_EQ(emulation::counted().allocations, before.allocations);
  EXPECT_EQ(emulation::counted().copies + emulation::counted().fills, before.copies + before.fills);
  s.wait();
  EXPECT_EQ(emulation::launches().size(), 2U);
  c.expect_packet();
}

TEST_F(EmulatedDevice, DecompressesInOneKernelWithoutWaitingOrAllocating)
{
  call const c;
  stream const s;
  c.compress(s);
  s.wait();
  twin_outputs const out{c.list.host(), bird::dtype::float32};
  std::size_t const launches       = emulation::launches().size();
  emulation::counters const before = emulation::counted();
  bird::decompress(c.packet.span(), out.device(), c.decode_scratch.span(), s);
  EXPECT_EQ(emulation::counted().synchronisations, before.synchronisations);
  EXPECT_EQ(emulation::counted().allocations, before.allocations);
  s.wait();
  EXPECT_EQ(emulation::launches().size(), launches + 1);
}

TEST_F(EmulatedDevice, MakesErrorFeedbackInFiveKernelsWithoutWaitingOrAllocating)
{
  bird::compressor const codec{bird::preset("block")};
  twin_list const list{bird::dtype::float32, {{5'000}, {900}}, 5};
  twin_memory memory{list};
  stream const s;
  device_buffer const packet{codec.packet_capacity(list.host())};
  device_buffer const scratch{codec.compress_scratch_bytes(list.host())};
  emulation::counters const before = emulation::counted();
  codec.compress(list.device(), {1, 2, 3}, packet.span(), scratch.span(), memory.device(0.5F), s);
  EXPECT_EQ(emulation::counted().synchronisations, before.synchronisations);
  EXPECT_EQ(emulation::counted().allocations, before.allocations);
  EXPECT_EQ(emulation::counted().copies + emulation::counted().fills, before.copies + before.fills);
  s.wait();
  EXPECT_EQ(emulation::launches().size(), 5U);
}

TEST_F(EmulatedDevice, RefusesHostMemoryAndAnotherDevicesMemoryByName)
{
  emulation::settings two;
  two.devices = 2;
  emulation::reset(two);
  call const c;
  stream const s;
  EXPECT_THROW(c.codec.compress(c.list.host(), {}, c.packet.span(), c.scratch.span(), s),
               bird::invalid_argument);
  bird_test::require(cudaSetDevice(1), "cudaSetDevice");
  try {
    c.compress(s);
    ADD_FAILURE() << "memory of device 0 was taken on device 1";
  } catch (bird::invalid_argument const& error) {
    EXPECT_NE(std::string{error.what()}.find("device 0"), std::string::npos) << error.what();
  }
  bird_test::require(cudaSetDevice(0), "cudaSetDevice");
  EXPECT_EQ(emulation::launches().size(), 0U);
}

TEST_F(EmulatedDevice, FailsCleanlyWhereverTheRuntimeFails)
{
  call const c;
  twin_outputs const out{c.list.host(), bird::dtype::float32};
  stream const s;
  auto const work = [&] {
    c.compress(s);
    bird::decompress(c.packet.span(), out.device(), c.decode_scratch.span(), s);
  };
  emulation::fail_call(0, cudaSuccess);
  work();
  std::uint64_t const calls = emulation::calls_made();
  ASSERT_GT(calls, 10U);
  for (std::uint64_t n = 1; n <= calls; ++n) {
    emulation::fail_call(n, cudaErrorLaunchOutOfResources);
    EXPECT_THROW(work(), bird::cuda_error) << "call " << n;
    emulation::fail_call(0, cudaSuccess);
    s.wait();
  }
  work();
  bird::check_decoded(c.decode_scratch.span(), s);
  c.expect_packet();
}

TEST_F(EmulatedDevice, GivesTheSameBitsUnderManySchedules)
{
  bird::compressor const codec{bird::preset("tile")};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    emulation::settings schedule;
    schedule.seed            = seed;
    schedule.multiprocessors = 1 + static_cast<int>(seed % 5);
    emulation::reset(schedule);
    stream const s;
    twin_list const list{bird::dtype::float32, {{9'000}, {30'000}}, 10};
    packet_pair both = compress_both(codec, list, {3, 3, 3}, s);
    expect_same_packet(both, "seed " + std::to_string(seed));
    expect_same_decoding(codec, list, both, bird::dtype::float32, s, "seed " + std::to_string(seed));
    ASSERT_EQ(emulation::take_reports(), "") << "seed " << seed;
  }
}

}  // namespace
