/// Tensors handed over by DLPack: shape, strides, offset and device are honoured, and nothing else is taken.
#include "bird/dlpack.hpp"

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <string>

#include "bird/bird.h"
#include "bird/error.hpp"

namespace bird {
namespace {

/// DLManagedTensorVersioned of DLPack 1.0; the packaged header is older.
struct managed_tensor_versioned {
  struct {
    std::uint32_t major;
    std::uint32_t minor;
  } version;
  void* manager_ctx;
  void (*deleter)(managed_tensor_versioned*);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

/// A tensor of 4 rows of 6 floats, in host memory.
class Dlpack : public testing::Test {
 protected:
  Dlpack()
  {
    tensor_.data   = elements_;
    tensor_.device = {kDLCPU, 0};
    tensor_.ndim   = 2;
    tensor_.dtype  = {kDLFloat, 32, 1};
    tensor_.shape  = shape_;
  }

  std::string refusal(stream_ref stream = on_host)
  {
    try {
      (void)from_dlpack(tensor_, stream);
    } catch (invalid_argument const& error) {
      return error.what();
    }
    return "";
  }

  CUstream_st* const some_stream_ = reinterpret_cast<CUstream_st*>(std::uintptr_t{64});
  float elements_[24]             = {};
  std::int64_t shape_[2]          = {4, 6};
  std::int64_t strides_[2]        = {6, 1};
  DLTensor tensor_{};
};

TEST_F(Dlpack, TensorIsViewedWithItsCountTypeAndRow)
{
  const_tensor_view const view = from_dlpack(tensor_, on_host);
  EXPECT_EQ(view.data, elements_);
  EXPECT_EQ(view.count, 24U);
  EXPECT_EQ(view.type, dtype::float32);
  EXPECT_EQ(view.row, 6U);
}

TEST_F(Dlpack, ByteOffsetIsAdded)
{
  tensor_.byte_offset = 8;
  shape_[0]           = 3;
  EXPECT_EQ(from_dlpack(tensor_, on_host).data, elements_ + 2);
}

TEST_F(Dlpack, NullTensorWithoutElementsHasNoAddressWhateverItsOffset)
{
  tensor_.data                 = nullptr;
  tensor_.byte_offset          = 8;
  shape_[0]                    = 0;
  const_tensor_view const view = from_dlpack(tensor_, on_host);
  EXPECT_EQ(view.data, nullptr);
  EXPECT_EQ(view.count, 0U);
}

TEST_F(Dlpack, ScalarIsOneElement)
{
  tensor_.ndim  = 0;
  tensor_.shape = nullptr;
  EXPECT_EQ(from_dlpack(tensor_, on_host).count, 1U);
}

TEST_F(Dlpack, HalvesAndBrainFloatsAreTold)
{
  tensor_.dtype = {kDLFloat, 16, 1};
  EXPECT_EQ(from_dlpack(tensor_, on_host).type, dtype::float16);
  tensor_.dtype = {kDLBfloat, 16, 1};
  EXPECT_EQ(from_dlpack(tensor_, on_host).type, dtype::bfloat16);
}

TEST_F(Dlpack, DenseStridesAreTakenAndOthersRefusedByDimension)
{
  tensor_.strides = strides_;
  EXPECT_EQ(refusal(), "");
  strides_[0] = 8;
  EXPECT_NE(refusal().find("strides[0] is 8"), std::string::npos) << refusal();
}

TEST_F(Dlpack, OtherTypesAreRefusedWithCodeBitsAndLanes)
{
  for (DLDataType const type : {DLDataType{kDLFloat, 64, 1}, DLDataType{kDLInt, 32, 1},
                                DLDataType{kDLBfloat, 32, 1}, DLDataType{kDLFloat, 32, 2}}) {
    tensor_.dtype = type;
    EXPECT_NE(refusal().find("code " + std::to_string(type.code) + ", " + std::to_string(type.bits) +
                             " bits and " + std::to_string(type.lanes) + " lanes"),
              std::string::npos)
      << refusal();
  }
}

TEST_F(Dlpack, DeviceOfTheTensorIsThatOfTheStream)
{
  EXPECT_EQ(refusal(on_host), "");
  EXPECT_NE(refusal(some_stream_).find("device_type is 1"), std::string::npos) << refusal(some_stream_);
  tensor_.device = {kDLCUDA, 1};
  EXPECT_EQ(refusal(some_stream_), "");
  EXPECT_NE(refusal(on_host).find("device_type is 2"), std::string::npos) << refusal(on_host);
}

TEST_F(Dlpack, PinnedAndManagedMemoryServesEitherStream)
{
  for (DLDeviceType const type : {kDLCUDAHost, kDLCUDAManaged}) {
    tensor_.device = {type, 0};
    EXPECT_EQ(refusal(on_host), "");
    EXPECT_EQ(refusal(some_stream_), "");
  }
}

TEST_F(Dlpack, OtherDevicesAreRefused)
{
  tensor_.device = {kDLROCM, 0};
  EXPECT_NE(refusal(on_host).find("device_type is 10"), std::string::npos);
  EXPECT_NE(refusal(some_stream_).find("device_type is 10"), std::string::npos);
}

TEST_F(Dlpack, NegativeRankAndAMissingShapeAreRefused)
{
  tensor_.ndim = -1;
  EXPECT_EQ(refusal(), "ndim is -1; it is not negative");
  tensor_.ndim  = 2;
  tensor_.shape = nullptr;
  EXPECT_EQ(refusal(), "shape is NULL, but ndim is 2");
}

TEST_F(Dlpack, ManagedTensorOfEitherKindIsItsTensor)
{
  DLManagedTensor old{};
  old.dl_tensor = tensor_;
  EXPECT_EQ(from_dlpack(old, on_host).data, elements_);
  managed_tensor_versioned versioned{};
  versioned.version.major = 1;
  versioned.dl_tensor     = tensor_;
  EXPECT_EQ(from_dlpack(versioned, on_host).count, 24U);
  EXPECT_EQ(writable_from_dlpack(versioned, on_host).data, elements_);
}

TEST_F(Dlpack, AnotherMajorVersionIsRefused)
{
  managed_tensor_versioned versioned{};
  versioned.version.major = 2;
  versioned.dl_tensor     = tensor_;
  EXPECT_THROW((void)from_dlpack(versioned, on_host), invalid_argument);
}

TEST_F(Dlpack, ReadOnlyTensorIsReadAndNotWritten)
{
  managed_tensor_versioned versioned{};
  versioned.version.major = 1;
  versioned.flags         = 1;
  versioned.dl_tensor     = tensor_;
  EXPECT_EQ(from_dlpack(versioned, on_host).data, elements_);
  EXPECT_THROW((void)writable_from_dlpack(versioned, on_host), invalid_argument);
  versioned.flags = 2;  // another flag: the tensor was copied
  EXPECT_EQ(writable_from_dlpack(versioned, on_host).data, elements_);
}

TEST_F(Dlpack, CInterfaceFillsInATensor)
{
  bird_tensor tensor{};
  tensor_.strides     = strides_;
  tensor_.byte_offset = 4;
  ASSERT_EQ(bird_tensor_from_dlpack(&tensor_, bird_host_stream(), &tensor), BIRD_SUCCESS);
  EXPECT_EQ(tensor.data, elements_ + 1);
  EXPECT_EQ(tensor.shape, shape_);
  EXPECT_EQ(tensor.strides, strides_);
  EXPECT_EQ(tensor.ndim, 2);
  EXPECT_EQ(tensor.dtype, BIRD_FLOAT32);
  EXPECT_EQ(tensor.role, BIRD_SAMPLED);
}

TEST_F(Dlpack, CInterfaceRefusesByNameAndLeavesTheTensorAlone)
{
  bird_tensor tensor{};
  tensor.ndim     = 77;
  tensor_.strides = strides_;
  strides_[1]     = 2;
  EXPECT_EQ(bird_tensor_from_dlpack(&tensor_, bird_host_stream(), &tensor), BIRD_INVALID_ARGUMENT);
  EXPECT_NE(std::string{bird_last_error()}.find("strides[1] is 2"), std::string::npos);
  EXPECT_EQ(tensor.ndim, 77);
  EXPECT_EQ(bird_tensor_from_dlpack(nullptr, bird_host_stream(), &tensor), BIRD_INVALID_ARGUMENT);
  EXPECT_EQ(bird_tensor_from_dlpack(&tensor_, bird_host_stream(), nullptr), BIRD_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace bird
