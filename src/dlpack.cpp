/// DLPack: tensors of other libraries by their ABI, which needs no header of theirs.
#include "dlpack.hpp"

#include <string>

#include "bird/dlpack.hpp"
#include "bird/error.hpp"

namespace bird::dlpack {
namespace {

/// Layout of a DLTensor, the same in all versions of DLPack; a test compares it with dlpack.h.
struct tensor_layout {
  void* data;
  std::int32_t device_type;
  std::int32_t device_id;
  std::int32_t ndim;
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
  std::int64_t const* shape;
  std::int64_t const* strides;
  std::uint64_t byte_offset;
};
static_assert(sizeof(tensor_layout) == 48);

enum device_type : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
enum type_code : std::uint8_t { floating = 2, bfloat = 4 };

void check_device(std::int32_t type, stream_ref stream)
{
  bool const anywhere = type == cuda_host || type == cuda_managed;
  if (!anywhere && type != (stream.is_host() ? cpu : cuda)) {
    throw invalid_argument{"device_type is " + std::to_string(type) + "; a tensor for " +
                           (stream.is_host() ? "bird::on_host lies in memory of the CPU (1)"
                                             : "a CUDA stream lies on a CUDA device (2)") +
                           ", or is pinned (3) or managed (13)"};
  }
}

dtype type_of(tensor_layout const& tensor)
{
  if (tensor.lanes == 1) {
    if (tensor.code == floating && tensor.bits == 32) {
      return dtype::float32;
    }
    if (tensor.code == floating && tensor.bits == 16) {
      return dtype::float16;
    }
    if (tensor.code == bfloat && tensor.bits == 16) {
      return dtype::bfloat16;
    }
  }
  throw invalid_argument{"dtype has code " + std::to_string(tensor.code) + ", " +
                         std::to_string(tensor.bits) + " bits and " + std::to_string(tensor.lanes) +
                         " lanes; it must be float32, float16 (code 2) or bfloat16 (code 4) in one lane"};
}

}  // namespace

parts take_apart(void const* tensor, stream_ref stream)
{
  if (tensor == nullptr) {
    throw invalid_argument{"dl_tensor is NULL"};
  }
  auto const& given = *static_cast<tensor_layout const*>(tensor);
  check_device(given.device_type, stream);
  dtype const type = type_of(given);
  if (given.ndim < 0) {
    throw invalid_argument{"ndim is " + std::to_string(given.ndim) + "; it is not negative"};
  }
  if (given.ndim != 0 && given.shape == nullptr) {
    throw invalid_argument{"shape is NULL, but ndim is " + std::to_string(given.ndim)};
  }
  auto const dimensions = static_cast<std::size_t>(given.ndim);
  auto* const data =
    given.data == nullptr ? nullptr : static_cast<std::byte*>(given.data) + given.byte_offset;
  return {data, type, {given.shape, dimensions}, {given.strides, given.strides == nullptr ? 0 : dimensions}};
}

const_tensor_view view(void const* tensor, stream_ref stream)
{
  parts const given = take_apart(tensor, stream);
  return contiguous(given.data, given.type, given.shape, given.strides);
}

void check_version(std::uint32_t major)
{
  if (major != major_version) {
    throw invalid_argument{"version.major is " + std::to_string(major) + "; this library knows " +
                           std::to_string(major_version)};
  }
}

void check_writable(std::uint64_t flags)
{
  if ((flags & read_only_flag) != 0) {
    throw invalid_argument{"flags is " + std::to_string(flags) +
                           "; its lowest bit forbids to write into the tensor"};
  }
}

}  // namespace bird::dlpack
