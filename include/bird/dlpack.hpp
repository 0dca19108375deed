/// Tensors of other libraries, handed over by DLPack without a copy.
///
/// Takes a DLTensor, DLManagedTensor or DLManagedTensorVersioned of whatever dlpack.h you include; this
/// header includes none. The tensor stays its owner's: the view is valid until you call the deleter.
///
///   DLManagedTensor* gradient = ...;                                   // torch.from_dlpack and the like
///   bird::const_tensor_view const tensors[] = {bird::from_dlpack(*gradient, stream)};
///
/// On CUDA the producer's stream must have been synchronised with `stream` when the tensor was handed over
/// (in Python: __dlpack__(stream=...)).
#pragma once

#include <type_traits>

#include "bird/api.h"
#include "bird/stream.hpp"
#include "bird/tensor.hpp"

namespace bird BIRD_API {

namespace dlpack {

inline constexpr std::uint32_t major_version  = 1;  ///< of DLManagedTensorVersioned
inline constexpr std::uint64_t read_only_flag = 1;  ///< DLPACK_FLAG_BITMASK_READ_ONLY

/// @param tensor a DLTensor
[[nodiscard]] BIRD_API const_tensor_view view(void const* tensor, stream_ref stream);

/// @throws invalid_argument naming the version
BIRD_API void check_version(std::uint32_t major);
/// @throws invalid_argument when the flags say that the tensor must not be written
BIRD_API void check_writable(std::uint64_t flags);

template <class T, class = void>
struct is_managed : std::false_type {
};
template <class T>
struct is_managed<T, std::void_t<decltype(T::dl_tensor)>> : std::true_type {
};

template <class T, class = void>
struct is_versioned : std::false_type {
};
template <class T>
struct is_versioned<T, std::void_t<decltype(T::version), decltype(T::flags)>> : std::true_type {
};

}  // namespace dlpack

/// The tensor as one that is read. The row of the view is that of contiguous().
/// @param stream the stream of the call that will take the view: on_host for a tensor in host memory (also
///               pinned or managed), a CUDA stream for one on a CUDA device (also pinned or managed). The
///               device's number is not asked here; the call asks the pointer itself.
/// @throws invalid_argument naming device, dtype, lanes, ndim, or the dimension and stride that is not dense
template <class Tensor>
[[nodiscard]] const_tensor_view from_dlpack(Tensor const& tensor, stream_ref stream)
{
  if constexpr (dlpack::is_managed<Tensor>::value) {
    if constexpr (dlpack::is_versioned<Tensor>::value) {
      dlpack::check_version(tensor.version.major);
    }
    return from_dlpack(tensor.dl_tensor, stream);
  } else {
    static_assert(std::is_same_v<decltype(tensor.byte_offset), std::uint64_t> && sizeof tensor == 48,
                  "neither a DLTensor nor a managed one");
    return dlpack::view(&tensor, stream);
  }
}

/// The tensor as one that is written.
/// @throws invalid_argument as from_dlpack(), and when it is marked as read-only
template <class Tensor>
[[nodiscard]] tensor_view writable_from_dlpack(Tensor const& tensor, stream_ref stream)
{
  const_tensor_view const view = from_dlpack(tensor, stream);
  if constexpr (dlpack::is_versioned<Tensor>::value) {
    dlpack::check_writable(tensor.flags);
  }
  return {const_cast<void*>(view.data), view.count, view.type};
}

}  // namespace bird
