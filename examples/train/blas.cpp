#include "blas.hpp"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace bird::trainer {
namespace {

struct product {
  int m, n, k;
};
/// Shapes of the two networks, and one with odd remainders.
constexpr product tested[] = {{32, 256, 784}, {16, 400, 150}, {6, 784, 25}, {13, 37, 29}};

/// Sums of up to 784 products in another order differ by rounding: at most about k * 2^-24 of the sum of
/// magnitudes. A wrong kernel is off by whole terms.
constexpr double allowed_error = 784.0 / (1 << 24);

std::vector<float> numbers(std::size_t count, std::uint32_t state)
{
  std::vector<float> values(count);
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;  // Numerical Recipes' generator: any will do
    value = static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
  }
  return values;
}

double worst_error(product shape)
{
  auto const m = static_cast<std::size_t>(shape.m), n = static_cast<std::size_t>(shape.n),
             k               = static_cast<std::size_t>(shape.k);
  std::vector<float> const a = numbers(m * k, 1), b = numbers(k * n, 2);
  std::vector<float> c(m * n, NAN);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, shape.m, shape.n, shape.k, 1.0F, a.data(), shape.k,
              b.data(), shape.n, 0.0F, c.data(), shape.n);
  double worst = 0;
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (std::size_t l = 0; l < k; ++l) {
        double const term = static_cast<double>(a[i * k + l]) * static_cast<double>(b[l * n + j]);
        sum += term;
        magnitude += std::abs(term);
      }
      double const error = std::abs(static_cast<double>(c[i * n + j]) - sum) / magnitude;
      worst              = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    }
  }
  return worst;
}

}  // namespace

void prepare_blas()
{
  openblas_set_num_threads(1);
  for (product const shape : tested) {
    double const error = worst_error(shape);
    if (!(error <= allowed_error)) {
      throw std::runtime_error{
        fmt::format("OpenBLAS ({}) multiplies {} x {} x {} wrongly (relative error {:.1e}); try "
                    "OPENBLAS_CORETYPE=HASWELL",
                    openblas_get_corename(), shape.m, shape.n, shape.k, error)};
    }
  }
}

}  // namespace bird::trainer
