/// Error feedback: nothing is lost between gradient, residual and packet, and memory is never spoiled.
#include <gtest/gtest.h>

#include <limits>

#include "codec_call.hpp"
#include "gradients.hpp"
#include "sampled_tensor.hpp"

namespace {

using bird::dtype;
using bird::sampling;
using bird::segment_role;
using bird::values;
using codec_test::tensor;

constexpr bird::sample_key key{3, 2, 1};

/// Residuals and velocities of a list, and the feedback that points to them.
struct memory_of_list {
  std::vector<std::vector<float>> residual, velocity;
  std::vector<float*> residual_pointers, velocity_pointers;

  memory_of_list(std::vector<tensor> const& list, std::uint32_t seed)
  {
    for (tensor const& one : list) {
      residual.push_back(codec_test::gradient(one.shape.count, ++seed));
      velocity.push_back(codec_test::gradient(one.shape.count, ++seed));
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      // An empty vector may have no memory; the pointer is never followed.
      residual_pointers.push_back(residual[i].empty() ? &none : residual[i].data());
      velocity_pointers.push_back(velocity[i].empty() ? &none : velocity[i].data());
    }
  }
  [[nodiscard]] bird::feedback plain() const { return {residual_pointers, {}, 0}; }
  [[nodiscard]] bird::feedback with_momentum(float momentum) const
  {
    return {residual_pointers, velocity_pointers, momentum};
  }

 private:
  float none = 0;
};

std::vector<tensor> list_of(dtype type)
{
  return {tensor{codec_test::integers(1003, 101), type},
          tensor{codec_test::integers(126, 102), type, segment_role::companion},
          tensor{codec_test::integers(40, 103), type, segment_role::dense},
          tensor{codec_test::integers(64 * 8, 104), type}, tensor{std::vector<float>{}, type}};
}

TEST(Residual, PlusWhatIsDecodedIsResidualBeforePlusGradient)
{
  for (values const what : codec_test::all_values) {
    for (dtype const type : codec_test::all_dtypes) {
      for (bird::index const names : codec_test::all_indices) {
        std::vector<tensor> const list = list_of(type);
        memory_of_list memory{list, 105};
        auto const before  = memory.residual;
        auto const options = codec_test::options_of(sampling::top, what, 8, 0.2, 1.0, bird::norm::l1, names);
        auto const decoded =
          codec_test::decompress(codec_test::compress(options, list, key, memory.plain()).packet);
        for (std::size_t t = 0; t < list.size(); ++t) {
          std::vector<float> const gradient = codec_test::widened(list[t].bytes, type);
          for (std::size_t i = 0; i < gradient.size(); ++i) {
            float const sum = before[t][i] + gradient[i];
            // In full and in fp32 the element is sent as it is; else one subtraction is rounded, and adding
            // it back here once more.
            float const got      = memory.residual[t][i] + decoded[t][i];
            float const rounding = what == values::full && type == dtype::float32
                                     ? 0
                                     : 2e-7F * (std::abs(sum) + std::abs(decoded[t][i]));
            ASSERT_NEAR(got, sum, rounding) << bird::to_string(what) << " tensor " << t << " element " << i;
          }
        }
      }
    }
  }
}

TEST(Residual, OfValuesInFullIsZeroWhereATileWasSentAndWholeElsewhere)
{
  std::vector<tensor> const list{tensor{codec_test::integers(800, 106)}};
  memory_of_list memory{list, 107};
  auto const before = memory.residual[0];
  auto const packet = codec_test::compress(codec_test::options_of(sampling::top, values::full, 8, 0.1), list,
                                           key, memory.plain());
  std::vector<float> const gradient = codec_test::widened(list[0].bytes, dtype::float32);
  std::vector<bool> sent(100, false);
  for (std::uint64_t const tile : packet.decoded().slots) {
    sent[tile] = true;
  }
  for (std::size_t i = 0; i < 800; ++i) {
    ASSERT_EQ(memory.residual[0][i], sent[i / 8] ? 0.0F : before[i] + gradient[i]);
  }
}

TEST(Velocity, BuildsUpBeforeSelectionAndIsClearedWhereATileWasSent)
{
  std::vector<tensor> const list{tensor{codec_test::integers(800, 108)}};
  memory_of_list memory{list, 109};
  auto const residual = memory.residual[0], velocity = memory.velocity[0];
  constexpr float momentum = 0.5F;
  auto const packet = codec_test::compress(codec_test::options_of(sampling::top, values::full, 8, 0.1), list,
                                           key, memory.with_momentum(momentum));
  std::vector<float> const gradient = codec_test::widened(list[0].bytes, dtype::float32);
  std::vector<float> const decoded  = codec_test::decompress(packet.packet)[0];
  std::vector<bool> sent(100, false);
  for (std::uint64_t const tile : packet.decoded().slots) {
    sent[tile] = true;
  }
  for (std::size_t i = 0; i < 800; ++i) {
    float const v = momentum * velocity[i] + gradient[i];
    float const r = residual[i] + v;
    ASSERT_EQ(memory.velocity[0][i], sent[i / 8] ? 0.0F : v);
    ASSERT_EQ(memory.residual[0][i], sent[i / 8] ? 0.0F : r);
    ASSERT_EQ(decoded[i], sent[i / 8] ? r : 0.0F);
  }
}

TEST(Residual, SendsEverythingInTheLongRun)
{
  std::vector<float> const gradient = codec_test::integers(800, 110);
  std::vector<tensor> const list{tensor{gradient}};
  memory_of_list memory{list, 111};
  std::fill(memory.residual[0].begin(), memory.residual[0].end(), 0.0F);
  std::vector<double> received(800, 0.0);
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    auto const packet = codec_test::compress(codec_test::options_of(sampling::top, values::full, 8, 0.1),
                                             list, {1, static_cast<std::uint32_t>(round), 0}, memory.plain());
    std::vector<float> const decoded = codec_test::decompress(packet.packet)[0];
    for (std::size_t i = 0; i < 800; ++i) {
      received[i] += static_cast<double>(decoded[i]);
    }
  }
  for (std::size_t i = 0; i < 800; ++i) {  // integers: sums are exact
    EXPECT_EQ(received[i] + static_cast<double>(memory.residual[0][i]),
              rounds * static_cast<double>(gradient[i]));
  }
}

TEST(Omega, WithAResidualIsTheErrorOfWhatWasSent)
{
  std::vector<tensor> const list{tensor{codec_test::gradient(8000, 112)}};
  for (values const what : {values::full, values::sign}) {
    memory_of_list memory{list, 113};
    std::vector<float> whole = codec_test::widened(list[0].bytes, dtype::float32);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      whole[i] += memory.residual[0][i];
    }
    auto const got =
      codec_test::compress(codec_test::options_of(sampling::top, what, 8, 0.1), list, key, memory.plain());
    double const error  = codec_test::squared_distance(memory.residual[0], {});
    double const energy = codec_test::squared_distance(whole, {});
    EXPECT_NEAR(got.report.omega, error / energy, 1e-4) << bird::to_string(what);
  }
}

TEST(NonFiniteGradient, LeavesResidualAndVelocityAsTheyWere)
{
  for (float const bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (std::size_t const where : {0U, 1U, 2U}) {
      std::vector<tensor> list;
      for (std::size_t t = 0; t < 3; ++t) {
        std::vector<float> elements = codec_test::integers(t == 1 ? 100 : 800, 114);
        if (t == where) {
          elements[elements.size() / 2] = bad;
        }
        list.emplace_back(elements, dtype::float32,
                          t == 0   ? segment_role::sampled
                          : t == 1 ? segment_role::companion
                                   : segment_role::dense);
      }
      memory_of_list memory{list, 115};
      auto const residual = memory.residual, velocity = memory.velocity;
      for (values const what : codec_test::all_values) {
        auto const got = codec_test::compress(codec_test::options_of(sampling::top, what, 8, 0.5), list, key,
                                              memory.with_momentum(0.9F));
        EXPECT_TRUE(got.report.non_finite);
        EXPECT_EQ(memory.residual, residual);
        EXPECT_EQ(memory.velocity, velocity);
        EXPECT_TRUE(std::isnan(codec_test::decompress(got.packet)[where][0]));
      }
    }
  }
}

TEST(Feedback, WithASamplerIsRefusedByName)
{
  std::vector<tensor> const list{tensor{codec_test::integers(800, 116)}};
  memory_of_list const memory{list, 117};
  auto const before = memory.residual;
  for (sampling const how : {sampling::systematic, sampling::uniform, sampling::bi_random}) {
    auto const options = codec_test::options_of(how, values::full, 8, 0.1);
    EXPECT_INVALID(codec_test::compress(options, list, key, memory.plain()), bird::to_string(how));
  }
  EXPECT_EQ(memory.residual, before);
}

TEST(Feedback, ThatDoesNotFitTheListIsRefusedByName)
{
  std::vector<tensor> const list{tensor{codec_test::integers(800, 118)},
                                 tensor{codec_test::integers(8, 119)}};
  memory_of_list const memory{list, 120};
  auto const options = bird::preset("block");
  auto const run     = [&](bird::feedback f) { return codec_test::compress(options, list, key, f); };
  bird::feedback f   = memory.plain();
  f.residual         = f.residual.first(1);
  EXPECT_INVALID(run(f), "memory.residual: 1 buffers for 2 tensors");
  f          = memory.with_momentum(0.9F);
  f.velocity = f.velocity.first(1);
  EXPECT_INVALID(run(f), "memory.velocity: 1 buffers for 2 tensors");
  for (float const momentum : {-0.1F, 1.0F, std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_INVALID(run(memory.with_momentum(momentum)), "memory.momentum");
  }
  EXPECT_INVALID(run({{}, memory.velocity_pointers, 0}), "memory.velocity");
  EXPECT_INVALID(run({{}, {}, 0.5F}), "memory.momentum");
  std::vector<float*> pointers = memory.residual_pointers;
  pointers[1]                  = nullptr;
  EXPECT_INVALID(run({pointers, {}, 0}), "memory.residual[1]: is null");
}

}  // namespace
