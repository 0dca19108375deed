/// Every operation does what NCCL's does, for every type, operator, place and length.
#include <cmath>
#include <cstring>
#include <numeric>

#include "ranks.hpp"

namespace {

using namespace loopback_test;

class AllReduce : public Loopback {};
class Operation : public Loopback {};
class Average : public Loopback {};
class PreMulSum : public Loopback {};
class Transfer : public Loopback {};

constexpr int ranks         = 3;
constexpr float poison      = -77.0F;
constexpr std::size_t large = 600001;  // several chunks of any slot, and odd

using floats                     = std::vector<float>;
cudaStream_t const inline_stream = nullptr;

floats ramp(int rank, std::size_t count)
{
  floats values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(rank + 1) * static_cast<float>(i % 1000);
  }
  return values;
}

TEST_F(AllReduce, SumsAnyLengthInAndOutOfPlace)
{
  for (std::size_t const count : {std::size_t{1}, std::size_t{2}, std::size_t{1000}, large}) {
    on_ranks(ranks, [&](ncclComm_t comm, int rank) {
      floats const send = ramp(rank, count);
      floats in_place   = send;
      floats recv(count + 1, poison);
      EXPECT_EQ(ncclAllReduce(send.data(), recv.data(), count, ncclFloat32, ncclSum, comm, inline_stream),
                ncclSuccess);
      EXPECT_EQ(
        ncclAllReduce(in_place.data(), in_place.data(), count, ncclFloat32, ncclSum, comm, inline_stream),
        ncclSuccess);
      EXPECT_EQ(recv[count], poison);
      EXPECT_EQ(send, ramp(rank, count)) << "the input is left alone";
      recv.pop_back();
      EXPECT_EQ(recv, in_place);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(recv[i], 6.0F * static_cast<float>(i % 1000)) << i;
      }
    });
  }
}

TEST_F(AllReduce, OfNothingReturnsAtOnceThoughNobodyElseCalls)
{
  on_ranks(2, [](ncclComm_t comm, int rank) {
    if (rank == 0) {
      EXPECT_EQ(ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, comm, inline_stream), ncclSuccess);
    }
  });
}

TEST_F(AllReduce, OfOneRankCopiesAndScales)
{
  on_ranks(1, [](ncclComm_t comm, int) {
    float const send[2] = {3, 4};
    float recv[2]       = {poison, poison};
    float factor        = 0.5F;
    EXPECT_EQ(ncclAllReduce(send, recv, 2, ncclFloat32, ncclAvg, comm, inline_stream), ncclSuccess);
    EXPECT_EQ(recv[1], 4.0F);
    ncclRedOp_t op;
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32, ncclScalarHostImmediate, comm),
              ncclSuccess);
    EXPECT_EQ(ncclAllReduce(send, recv, 2, ncclFloat32, op, comm, inline_stream), ncclSuccess);
    EXPECT_EQ(ncclRedOpDestroy(op, comm), ncclSuccess);
    EXPECT_EQ(recv[0], 1.5F);
  });
}

/// All types hold these small whole numbers exactly; `one` is the bits of 1, 2 and 3 in turn.
template <class T>
void expect_reductions(ncclDataType_t type, T one, T two, T three, T four, T six)
{
  on_ranks(ranks, [&](ncclComm_t comm, int rank) {
    T const own = rank == 0 ? one : rank == 1 ? two : three;
    struct {
      ncclRedOp_t op;
      T result;
    } const cases[] = {{ncclSum, six}, {ncclProd, six}, {ncclMax, three}, {ncclMin, one}};
    for (auto const& each : cases) {
      T recv[2] = {four, four};
      EXPECT_EQ(ncclAllReduce(&own, recv, 1, type, each.op, comm, inline_stream), ncclSuccess);
      EXPECT_EQ(recv[0], each.result) << type << " " << each.op;
      EXPECT_EQ(recv[1], four);
    }
  });
}

TEST_F(AllReduce, KnowsEveryTypeAndOperator)
{
  auto const whole = [](auto like, ncclDataType_t type) {
    using T = decltype(like);
    expect_reductions<T>(type, T(1), T(2), T(3), T(4), T(6));
  };
  whole(std::int8_t{}, ncclInt8);
  whole(std::uint8_t{}, ncclUint8);
  whole(std::int32_t{}, ncclInt32);
  whole(std::uint32_t{}, ncclUint32);
  whole(std::int64_t{}, ncclInt64);
  whole(std::uint64_t{}, ncclUint64);
  whole(float{}, ncclFloat32);
  whole(double{}, ncclFloat64);
  expect_reductions<std::uint16_t>(ncclFloat16, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4600);
  expect_reductions<std::uint16_t>(ncclBfloat16, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40c0);
  expect_reductions<std::uint8_t>(ncclFloat8e4m3, 0x38, 0x40, 0x44, 0x48, 0x4c);
  expect_reductions<std::uint8_t>(ncclFloat8e5m2, 0x3c, 0x40, 0x42, 0x44, 0x46);
}

TEST_F(AllReduce, AddsInRankOrderSoThatAllRanksHaveTheSameBits)
{
  std::vector<float> results(ranks);
  on_ranks(ranks, [&](ncclComm_t comm, int rank) {
    float const own = rank == 0 ? 1e8F : rank == 1 ? -1e8F : 1.0F;  // any other order gives 0
    EXPECT_EQ(ncclAllReduce(&own, &results[static_cast<std::size_t>(rank)], 1, ncclFloat32, ncclSum, comm,
                            inline_stream),
              ncclSuccess);
  });
  EXPECT_EQ(results, (std::vector<float>{1, 1, 1}));
}

TEST_F(Average, MultipliesByTheReciprocalRoundedToTheType)
{
  on_ranks(ranks, [](ncclComm_t comm, int) {
    float const own = 7.0F;
    float recv      = poison;
    EXPECT_EQ(ncclAllReduce(&own, &recv, 1, ncclFloat32, ncclAvg, comm, inline_stream), ncclSuccess);
    float const part = 7.0F * (1.0F / 3.0F);
    EXPECT_EQ(recv, part + part + part);
    // bf16: 1/3 is 0x3eab = 0.333984375; times 3 is 1.001953125, rounded to 1; three times 3 are 3, not 2.998
    std::uint16_t const three = 0x4040;
    std::uint16_t half        = 0;
    EXPECT_EQ(ncclAllReduce(&three, &half, 1, ncclBfloat16, ncclAvg, comm, inline_stream), ncclSuccess);
    EXPECT_EQ(half, 0x4040);
  });
}

TEST_F(Average, OfIntegersDividesTheSumTowardsZero)
{
  on_ranks(ranks, [](ncclComm_t comm, int rank) {
    std::int32_t const own[2] = {rank == 0 ? 5 : 0, rank == 0 ? -5 : 0};
    std::int32_t recv[2]      = {99, 99};
    EXPECT_EQ(ncclAllReduce(own, recv, 2, ncclInt32, ncclAvg, comm, inline_stream), ncclSuccess);
    EXPECT_EQ(recv[0], 1);
    EXPECT_EQ(recv[1], -1);
  });
}

TEST_F(PreMulSum, ScalesEachRankByItsOwnScalarFromHostOrDevice)
{
  for (ncclScalarResidence_t const residence : {ncclScalarHostImmediate, ncclScalarDevice}) {
    on_ranks(ranks, [&](ncclComm_t comm, int rank) {
      float factor = static_cast<float>(rank);
      ncclRedOp_t op;
      EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &factor, ncclFloat32, residence, comm), ncclSuccess);
      EXPECT_GE(op, ncclNumOps);
      if (residence == ncclScalarHostImmediate) {
        factor = 1000;  // has been read
      }
      float const own = 10;
      float recv      = poison;
      ncclGroupStart();
      EXPECT_EQ(ncclAllReduce(&own, &recv, 1, ncclFloat32, op, comm, inline_stream), ncclSuccess);
      EXPECT_EQ(ncclRedOpDestroy(op, comm), ncclSuccess) << "may go before the group ends";
      EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
      EXPECT_EQ(recv, 30.0F);
    });
  }
}

TEST_F(PreMulSum, OfAnotherTypeOrCommunicatorOrDestroyedIsRefused)
{
  on_ranks(1, [](ncclComm_t comm, int) {
    ncclComm_t other = nullptr;
    ASSERT_EQ(ncclCommInitAll(&other, 1, nullptr), ncclSuccess);
    float value = 2;
    ncclRedOp_t op;
    EXPECT_EQ(ncclRedOpCreatePreMulSum(&op, &value, ncclFloat32, ncclScalarHostImmediate, comm), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclInt32, op, comm, inline_stream), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat32, op, other, inline_stream), ncclInvalidArgument);
    EXPECT_EQ(ncclRedOpDestroy(op, comm), ncclSuccess);
    EXPECT_EQ(ncclAllReduce(&value, &value, 1, ncclFloat32, op, comm, inline_stream), ncclInvalidArgument);
    EXPECT_EQ(ncclRedOpDestroy(op, comm), ncclInvalidArgument);
    EXPECT_EQ(ncclRedOpDestroy(ncclSum, comm), ncclInvalidArgument);
    ncclCommDestroy(other);
  });
}

/// What rank r sends at index i of the block for rank q.
float value_for(int r, int q, std::size_t i)
{
  return static_cast<float>(r * 100 + q * 10) + static_cast<float>(i % 7);
}

TEST_F(Operation, GathersScattersAndReducesEveryBlockWhereItBelongs)
{
  for (std::size_t const count : {std::size_t{1}, std::size_t{5}, large / 4}) {
    on_ranks(ranks, [&](ncclComm_t comm, int rank) {
      auto const n = static_cast<std::size_t>(ranks);
      floats blocks(n * count);
      for (std::size_t q = 0; q < n; ++q) {
        for (std::size_t i = 0; i < count; ++i) {
          blocks[q * count + i] = value_for(rank, static_cast<int>(q), i);
        }
      }
      floats all(n * count, poison);
      floats one(count, poison);
      auto const expect_from_all = [&](int block, char const* what) {
        for (std::size_t k = 0; k < n * count; ++k) {
          ASSERT_EQ(all[k], value_for(static_cast<int>(k / count), block, k % count)) << what << " " << k;
        }
      };
      EXPECT_EQ(ncclAllGather(blocks.data(), all.data(), count, ncclFloat32, comm, nullptr), ncclSuccess);
      expect_from_all(0, "AllGather");
      all.assign(n * count, poison);
      EXPECT_EQ(ncclAlltoAll(blocks.data(), all.data(), count, ncclFloat32, comm, nullptr), ncclSuccess);
      expect_from_all(rank, "AlltoAll");
      all.assign(n * count, poison);
      EXPECT_EQ(ncclGather(blocks.data(), all.data(), count, ncclFloat32, 1, comm, nullptr), ncclSuccess);
      if (rank == 1) {
        expect_from_all(0, "Gather");
      } else {
        EXPECT_EQ(all, floats(n * count, poison));
      }
      EXPECT_EQ(
        ncclScatter(rank == 2 ? blocks.data() : nullptr, one.data(), count, ncclFloat32, 2, comm, nullptr),
        ncclSuccess);
      EXPECT_EQ(one.back(), value_for(2, rank, count - 1));
      EXPECT_EQ(ncclReduceScatter(blocks.data(), one.data(), count, ncclFloat32, ncclSum, comm, nullptr),
                ncclSuccess);
      EXPECT_EQ(one.back(), 300 + 3 * value_for(0, rank, count - 1));
      one.assign(count, poison);
      EXPECT_EQ(ncclReduce(blocks.data(), one.data(), count, ncclFloat32, ncclMax, 1, comm, nullptr),
                ncclSuccess);
      EXPECT_EQ(one.back(), rank == 1 ? value_for(2, 0, count - 1) : poison);
      EXPECT_EQ(ncclBroadcast(blocks.data(), one.data(), count, ncclFloat32, 2, comm, nullptr), ncclSuccess);
      EXPECT_EQ(one.back(), value_for(2, 0, count - 1));
      EXPECT_EQ(ncclBcast(blocks.data(), count, ncclFloat32, 0, comm, nullptr), ncclSuccess);
      EXPECT_EQ(blocks[count - 1], value_for(0, 0, count - 1));
    });
  }
}

TEST_F(Operation, ReduceScatterAndAllGatherWorkInPlace)
{
  std::size_t const count = large / 3;
  on_ranks(ranks, [&](ncclComm_t comm, int rank) {
    auto const n = static_cast<std::size_t>(ranks);
    float* own   = nullptr;
    floats all(n * count);
    for (std::size_t k = 0; k < all.size(); ++k) {
      all[k] = static_cast<float>(rank) + static_cast<float>(k % 1013);
    }
    own = all.data() + static_cast<std::size_t>(rank) * count;
    EXPECT_EQ(ncclReduceScatter(all.data(), own, count, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclAllGather(own, all.data(), count, ncclFloat32, comm, nullptr), ncclSuccess);
    for (std::size_t k = 0; k < all.size(); ++k) {
      ASSERT_EQ(all[k], 3 + 3 * static_cast<float>(k % 1013)) << k;
    }
  });
}

TEST_F(Operation, RefusesBadArgumentsByName)
{
  on_ranks(1, [](ncclComm_t comm, int) {
    float x             = 1;
    auto const no_type  = static_cast<ncclDataType_t>(12);
    auto const refused  = ncclInvalidArgument;
    auto const last_has = [&](char const* part) {
      EXPECT_NE(std::string(ncclGetLastError(nullptr)).find(part), std::string::npos)
        << ncclGetLastError(nullptr);
    };
    EXPECT_EQ(ncclAllReduce(&x, &x, 1, ncclFloat32, ncclSum, nullptr, nullptr), refused);
    last_has("NULL");
    EXPECT_EQ(ncclAllReduce(&x, &x, 1, no_type, ncclSum, comm, nullptr), refused);
    last_has("data type 12");
    EXPECT_EQ(ncclAllReduce(&x, &x, 1, ncclFloat32, static_cast<ncclRedOp_t>(99), comm, nullptr), refused);
    last_has("operator 99");
    EXPECT_EQ(ncclBroadcast(&x, &x, 1, ncclFloat32, 1, comm, nullptr), refused);
    last_has("root is 1");
    EXPECT_EQ(ncclSend(&x, 1, ncclFloat32, -1, comm, nullptr), refused);
    last_has("peer is -1");
    EXPECT_EQ(ncclAllReduce(&x, nullptr, 1, ncclFloat32, ncclSum, comm, nullptr), refused);
    last_has("recvbuff");
    EXPECT_EQ(ncclAllReduce(&x, &x, 1, ncclFloat32, ncclSum, comm, nullptr), ncclSuccess)
      << "a bad call harms none";
  });
}

TEST_F(Transfer, ExchangesWithAllInAGroupAndWithItself)
{
  for (std::size_t const count : {std::size_t{0}, std::size_t{1}, large / 4}) {
    on_ranks(ranks, [&](ncclComm_t comm, int rank) {
      std::vector<floats> out;
      std::vector<floats> in(ranks, floats(count, poison));
      ncclGroupStart();
      for (int q = 0; q < ranks; ++q) {
        out.emplace_back(count, value_for(rank, q, 0));
      }
      for (int q = 0; q < ranks; ++q) {
        auto const at = static_cast<std::size_t>(q);
        EXPECT_EQ(ncclRecv(in[at].data(), count, ncclFloat32, q, comm, nullptr), ncclSuccess);
        EXPECT_EQ(ncclSend(out[at].data(), count, ncclFloat32, q, comm, nullptr), ncclSuccess);
      }
      EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
      for (int q = 0; q < ranks; ++q) {
        EXPECT_EQ(in[static_cast<std::size_t>(q)], floats(count, value_for(q, rank, 0)));
      }
    });
  }
}

TEST_F(Transfer, OfOnePairKeepTheirOrder)
{
  on_ranks(2, [](ncclComm_t comm, int rank) {
    float values[4] = {1, 2, 3, 4};
    float got[4]    = {poison, poison, poison, poison};
    ncclGroupStart();
    for (int i = 0; i < 4; ++i) {
      if (rank == 0) {
        ncclSend(&values[i], 1, ncclFloat32, 1, comm, nullptr);
      } else {
        ncclRecv(&got[i], 1, ncclFloat32, 0, comm, nullptr);
      }
    }
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
    if (rank == 1) {
      EXPECT_TRUE(std::equal(values, values + 4, got));
    }
  });
}

}  // namespace
