/// limits: what the memory system allows, as the denominators of the other rows.
#include <stdexcept>

#include "peers/bandwidth.hpp"
#include "rows.hpp"

namespace bird::bench {
namespace {

constexpr char const* read_plain_name  = "read, plain loop";
constexpr char const* read_linear_name = "read, prefetch one page ahead";
constexpr char const* read_pages_name  = "read, prefetch four pages in turn";
constexpr char const* read_runs_name   = "read, four runs side by side";
constexpr char const* fill_libc_name   = "fill, memset";
constexpr char const* fill_stream_name = "fill, non-temporal";
constexpr char const* copy_libc_name   = "copy, memcpy";
constexpr char const* copy_stream_name = "copy, non-temporal";
constexpr char const* both_ways_suffix = ", read + written";

work dense(std::size_t count)
{
  auto const elements = static_cast<double>(count);
  return {elements * sizeof(float), elements};
}

template <class Read>
void measure_read(suite& rows, inputs& data, char const* name, std::size_t count, int threads, Read read)
{
  rows.measure({label(name, count, threads), threads, dense(count), [=, &data] {
                  span<float const> const x = data.gradient(count);
                  if (read(x) != peers::read_plain(x)) {
                    throw std::runtime_error{"a read left out words"};
                  }
                  return [=] { [[maybe_unused]] std::uint32_t volatile const sink = read(x); };
                }});
}

template <class Copy>
void measure_copy(suite& rows, inputs& data, std::string const& name, std::size_t count, int threads,
                  work amount, Copy copy)
{
  rows.measure({label(name, count, threads), threads, amount, [=, &data] {
                  span<float const> const x = data.gradient(count);
                  auto* const to =
                    reinterpret_cast<float*>(data.output("dense", count * sizeof(float)).data());
                  copy(x, to);
                  if (peers::read_plain(x) != peers::read_plain({to, count})) {
                    throw std::runtime_error{"a copy differs"};
                  }
                  return [=] { copy(x, to); };
                }});
}

template <class Fill>
void measure_fill(suite& rows, inputs& data, char const* name, std::size_t count, int threads, Fill fill)
{
  rows.measure({label(name, count, threads), threads, dense(count), [=, &data] {
                  auto* const to =
                    reinterpret_cast<float*>(data.output("dense", count * sizeof(float)).data());
                  fill(span<float>{to, count});
                  return [=] { fill(span<float>{to, count}); };
                }});
}

void add_limits_of(suite& rows, inputs& data, std::size_t count, int threads)
{
  measure_read(rows, data, read_plain_name, count, threads,
               [](span<float const> x) { return peers::read_plain(x); });
  measure_read(rows, data, read_linear_name, count, threads,
               [](span<float const> x) { return peers::read_prefetched(x, peers::linear_prefetch); });
  measure_read(rows, data, read_pages_name, count, threads, [](span<float const> x) {
    return peers::read_prefetched(x, peers::page_interleaved_prefetch);
  });
  measure_read(rows, data, read_runs_name, count, threads,
               [](span<float const> x) { return peers::read_four_runs(x); });
  measure_fill(rows, data, fill_libc_name, count, threads, peers::fill_libc);
  measure_fill(rows, data, fill_stream_name, count, threads, peers::fill_non_temporal);

  work both_ways = dense(count);
  both_ways.bytes *= 2;
  measure_copy(rows, data, copy_libc_name, count, threads, dense(count), peers::copy_libc);
  measure_copy(rows, data, copy_stream_name, count, threads, dense(count), peers::copy_non_temporal);
  measure_copy(rows, data, std::string{copy_libc_name} + both_ways_suffix, count, threads, both_ways,
               peers::copy_libc);
  measure_copy(rows, data, std::string{copy_stream_name} + both_ways_suffix, count, threads, both_ways,
               peers::copy_non_temporal);
}

}  // namespace

std::string size_name(std::size_t count)
{
  for (auto const& [shift, letter] : {std::pair{20U, 'M'}, std::pair{10U, 'K'}}) {
    if (count >> shift != 0 && (count >> shift) << shift == count) {
      return std::to_string(count >> shift) + letter;
    }
  }
  return std::to_string(count);
}

std::string label(std::string const& what, std::size_t count, int threads)
{
  return what + ", " + size_name(count) + ", " + std::to_string(threads) +
         (threads == 1 ? " thread" : " threads");
}

std::vector<std::string> best_read(std::size_t count, int threads)
{
  return {label(read_plain_name, count, threads), label(read_linear_name, count, threads),
          label(read_pages_name, count, threads), label(read_runs_name, count, threads)};
}

std::vector<std::string> best_fill(std::size_t count, int threads)
{
  return {label(fill_libc_name, count, threads), label(fill_stream_name, count, threads)};
}

std::string memcpy_of(std::size_t count, int threads) { return label(copy_libc_name, count, threads); }

std::vector<std::string> best_copy_both_ways(std::size_t count, int threads)
{
  return {label(std::string{copy_libc_name} + both_ways_suffix, count, threads),
          label(std::string{copy_stream_name} + both_ways_suffix, count, threads)};
}

void add_limits(suite& rows, inputs& data, axes const& over)
{
  for (int const threads : over.threads) {
    for (std::size_t const count : {over.large, over.medium, over.small}) {
      add_limits_of(rows, data, count, threads);
    }
    std::size_t const count = over.large;
    auto const limit_row    = [&](char const* ours, char const* reference) {
      rows.compare({label(std::string{ours} + " / " + reference, count, threads),
                    label(ours, count, threads),
                    {label(reference, count, threads)},
                    unit::gigabytes_per_second,
                    std::nullopt});
    };
    limit_row(read_linear_name, read_plain_name);
    limit_row(read_pages_name, read_plain_name);
    limit_row(read_runs_name, read_plain_name);
    limit_row(copy_stream_name, copy_libc_name);
    limit_row(fill_stream_name, fill_libc_name);
  }
}

}  // namespace bird::bench
