/// blas: what must be right about the BLAS library before a network may use it.
#pragma once

namespace bird::trainer {

/// One thread for every call: the workers are the parallelism, and more threads than cores cost a
/// factor of ten. Then compares a few products of the shapes in use with plain loops, since old
/// OpenBLAS versions pick wrong kernels on some new processors.
/// @throws std::runtime_error when a product is wrong
void prepare_blas();

}  // namespace bird::trainer
