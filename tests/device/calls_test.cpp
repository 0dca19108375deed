/// How device calls behave: launches, streams, graphs, bad memory, bad packets, failures.
#include <numeric>

#include "device_call.hpp"

namespace {

using bird_test::call;
using bird_test::device_buffer;
using bird_test::host_buffer;
using bird_test::stream;
using bird_test::twin_list;
using bird_test::twin_outputs;

class DeviceCall : public bird_test::device_test {};

TEST_F(DeviceCall, KeepsToItsStreamsOrder)
{
  call const c;
  stream const s;
  twin_outputs const out{c.list.host(), bird::dtype::float32};
  c.compress(s, 5);
  bird::decompress(c.packet.span(), out.device(), c.decode_scratch.span(), s);
  // The input is overwritten right after the call, in stream order.
  auto const& first = c.list.device()[0];
  bird_test::require(cudaMemsetAsync(const_cast<void*>(first.data), 0xFF, first.count * 4, s.get()),
                     "memset");
  bird::check_decoded(c.decode_scratch.span(), s);
  c.expect_packet(5);
  std::vector<std::byte> const packet = c.host_packet(5);
  host_buffer aligned{packet.size()};
  std::copy(packet.begin(), packet.end(), aligned.span().begin());
  bird::decompress(aligned.span(), out.host(), bird::on_host);
  EXPECT_TRUE(out.same());
}

TEST_F(DeviceCall, WaitsForAProducerOnAnotherStreamByAnEvent)
{
  call const c;
  stream const producer;
  stream const s;
  std::vector<float> values(c.list.host()[0].count);
  std::memcpy(values.data(), c.list.host()[0].data, values.size() * sizeof(float));
  void* const tensor = const_cast<void*>(c.list.device()[0].data);
  bird_test::require(cudaMemset(tensor, 0, values.size() * sizeof(float)), "memset");
  bird_test::require(cudaDeviceSynchronize(), "synchronize");
  cudaEvent_t ready = nullptr;
  bird_test::require(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming), "event");
  bird_test::require(cudaMemcpyAsync(tensor, values.data(), values.size() * sizeof(float),
                                     cudaMemcpyHostToDevice, producer.get()),
                     "copy");
  bird_test::require(cudaEventRecord(ready, producer.get()), "record");
  bird_test::require(cudaStreamWaitEvent(s.get(), ready, 0), "wait");
  c.compress(s);
  s.wait();
  c.expect_packet();
  cudaEventDestroy(ready);
}

TEST_F(DeviceCall, DrawsAnotherSampleAtEachReplayOfACapturedGraph)
{
  call const c;
  stream const s;
  device_buffer const counter{sizeof(std::uint32_t)};
  std::uint32_t const begin = 100;
  counter.fill_from(&begin);
  cudaGraph_t graph    = nullptr;
  cudaGraphExec_t exec = nullptr;
  bird_test::require(cudaStreamBeginCapture(s.get(), cudaStreamCaptureModeGlobal), "begin");
  c.codec.compress_replayable(c.list.device(), {1, 7, 2}, reinterpret_cast<std::uint32_t*>(counter.data()),
                              c.packet.span(), c.scratch.span(), s);
  bird_test::require(cudaStreamEndCapture(s.get(), &graph), "end");
  bird_test::require(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
  std::uint32_t const replays = bird_test::is_checked() ? 10 : 1000;
  for (std::uint32_t replay = 0; replay < replays; ++replay) {
    bird_test::require(cudaGraphLaunch(exec, s.get()), "launch");
    s.wait();
    c.expect_packet(7 + begin + replay);
  }
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

TEST_F(DeviceCall, TakesReplaysOfOneGraphFromTwoStreamsOneAfterTheOther)
{
  call const c;
  stream const both[2];
  device_buffer const counter{sizeof(std::uint32_t)};
  std::uint32_t const begin = 3;
  counter.fill_from(&begin);
  cudaGraph_t graph    = nullptr;
  cudaGraphExec_t exec = nullptr;
  bird_test::require(cudaStreamBeginCapture(both[0].get(), cudaStreamCaptureModeGlobal), "begin");
  c.codec.compress_replayable(c.list.device(), {1, 0, 2}, reinterpret_cast<std::uint32_t*>(counter.data()),
                              c.packet.span(), c.scratch.span(), both[0]);
  bird_test::require(cudaStreamEndCapture(both[0].get(), &graph), "end");
  bird_test::require(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
  std::uint32_t const replays = 10;
  for (std::uint32_t replay = 0; replay < replays; ++replay) {
    bird_test::require(cudaGraphLaunch(exec, both[replay % 2].get()), "launch");
  }
  both[0].wait();
  both[1].wait();
  c.expect_packet(begin + replays - 1);
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
}

TEST_F(DeviceCall, ServesTwoStreamsAtOnce)
{
  call const one;
  call const other;
  stream const first;
  stream const second;
  for (std::uint32_t step = 0; step < 5; ++step) {
    one.compress(first, step);
    other.compress(second, step + 100);
  }
  first.wait();
  second.wait();
  one.expect_packet(4);
  other.expect_packet(104);
}

TEST_F(DeviceCall, RefusesDamagedPacketsAndLeavesTheTensorsAsTheyAre)
{
  call const c;
  stream const s;
  std::vector<std::byte> const sound = c.host_packet();
  std::mt19937 random{12};
  device_buffer const damaged{sound.size()};
  twin_outputs const out{c.list.host(), bird::dtype::float32};
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::byte> bytes = sound;
    std::size_t const at         = trial < 30 ? random() % 160 : random() % bytes.size();
    bytes[at] ^= std::byte{static_cast<unsigned char>(1U << random() % 8)};
    damaged.fill_from(bytes.data());
    bird::decompress(damaged.span(), out.device(), c.decode_scratch.span(), s);
    EXPECT_THROW(bird::check_decoded(c.decode_scratch.span(), s), bird::bad_packet) << "byte " << at;
    ASSERT_TRUE(out.same()) << "byte " << at;
  }
}

/// Overwrites four bytes.
void put(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value)
{
  for (std::size_t i = 0; i < sizeof value; ++i) {
    bytes.at(at + i) = static_cast<std::byte>(value >> 8 * i);
  }
}

/// Makes the checksum that of the bytes again.
void sign_again(std::vector<std::byte>& bytes)
{
  std::uint64_t sum = 0;
  put(bytes, offsetof(bird::packet_header, checksum), 0);
  for (std::size_t i = 0; i < bytes.size() / 8; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + 8 * i, 8);
    sum += bird::rule::checksum_term(i, word);
  }
  put(bytes, offsetof(bird::packet_header, checksum), bird::rule::checksum_fold(sum));
}

TEST_F(DeviceCall, RefusesASegmentOfRowsWithoutElements)
{
  bird::compressor const codec{bird::preset("paper")};
  twin_list const list{bird::dtype::float32, {{1'000, bird::segment_role::sampled, 50}}, 14};
  host_buffer packet{codec.packet_capacity(list.host())};
  host_buffer work{codec.compress_scratch_bytes(list.host())};
  auto const report = codec.compress(list.host(), {}, packet.span(), work.span(), bird::on_host);
  auto const used   = packet.span().first(report.packet_bytes);
  std::vector<std::byte> bytes{used.begin(), used.end()};
  put(bytes, sizeof(bird::packet_header) + offsetof(bird::segment_entry, tile), 0);
  sign_again(bytes);
  device_buffer const damaged{bytes.size()};
  damaged.fill_from(bytes.data());
  device_buffer const scratch{codec.decode_scratch_bytes(list.host())};
  twin_outputs const out{list.host(), bird::dtype::float32};
  stream const s;
  bird::decompress(damaged.span(), out.device(), scratch.span(), s);
  EXPECT_THROW(bird::check_decoded(scratch.span(), s), bird::bad_packet);
  EXPECT_TRUE(out.same());
}

TEST_F(DeviceCall, NeverWritesOutsideForAHostilePacketWhoseChecksumIsRight)
{
  // Everything but the checksum is hostile: any byte of table or index, then the sum is made right again.
  call const c;
  stream const s;
  std::vector<std::byte> const sound = c.host_packet();
  std::mt19937 random{13};
  device_buffer const hostile{sound.size()};
  twin_outputs const out{c.list.host(), bird::dtype::float32};
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::byte> bytes = sound;
    for (int i = 0; i < 3; ++i) {
      bytes[8 + random() % std::min<std::size_t>(bytes.size() - 8, 600)] = static_cast<std::byte>(random());
    }
    sign_again(bytes);
    hostile.fill_from(bytes.data());
    bird::decompress(hostile.span(), out.device(), c.decode_scratch.span(), s);
    try {
      bird::check_decoded(c.decode_scratch.span(), s);
    } catch (bird::bad_packet const&) {
    }
    ASSERT_EQ(bird_test::complaints(), "") << "trial " << trial;
  }
}

TEST_F(DeviceCall, RefusesAPacketThatNeedsMoreScratchThanWasGiven)
{
  call const c;
  stream const s;
  c.compress(s);
  twin_outputs const out{c.list.host(), bird::dtype::float32};
  device_buffer const small{c.codec.decode_scratch_bytes(c.list.host()) - 200};
  bird::decompress(c.packet.span(), out.device(), small.span(), s);
  EXPECT_THROW(bird::check_decoded(small.span(), s), bird::bad_packet);
  EXPECT_TRUE(out.same());
  device_buffer const tiny{64};
  EXPECT_THROW(bird::decompress(c.packet.span(), out.device(), tiny.span(), s), bird::invalid_argument);
}

}  // namespace
