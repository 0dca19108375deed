#include "ordered_select.hpp"

#include <algorithm>
#include <functional>
#include <parallel/algorithm>
#include <queue>
#include <vector>

#include "threads.hpp"
#include "threshold.hpp"

namespace bird::peers {
namespace {

template <class Select>
sparse_view select_by(span<float const> gradient, std::size_t k, ordered_buffers& buffers, Select&& select)
{
  for_each_chunk(gradient.size(), [&](int, range r) {
    std::transform(gradient.data() + r.begin, gradient.data() + r.end, buffers.keys.data() + r.begin,
                   magnitude_bits);
  });
  std::uint32_t* const keys = buffers.keys.data();
  select(keys, keys + (k - 1), keys + gradient.size());
  std::uint32_t const threshold = keys[k - 1];
  std::size_t const count       = compress_above(gradient, threshold, buffers.kept).count;
  return buffers.kept.first(drop_ties(buffers.kept, count, threshold, k));
}

struct element {
  std::uint32_t key;
  std::uint32_t index;

  bool operator>(element const& other) const { return key > other.key; }
};

}  // namespace

sparse_view nth_element_select(span<float const> gradient, std::size_t k, ordered_buffers& buffers)
{
  return select_by(gradient, k, buffers, [](std::uint32_t* first, std::uint32_t* nth, std::uint32_t* last) {
    std::nth_element(first, nth, last, std::greater<>{});
  });
}

sparse_view parallel_nth_element_select(span<float const> gradient, std::size_t k, ordered_buffers& buffers)
{
  return select_by(gradient, k, buffers, [](std::uint32_t* first, std::uint32_t* nth, std::uint32_t* last) {
    __gnu_parallel::nth_element(first, nth, last, std::greater<>{});
  });
}

sparse_view heap_top_k(span<float const> gradient, std::size_t k, ordered_buffers& buffers)
{
  using heap = std::priority_queue<element, std::vector<element>, std::greater<>>;  // smallest on top
  std::vector<part_result<std::vector<element>>> largest(
    static_cast<std::size_t>(parts_for(gradient.size())));
  for_each_chunk(gradient.size(), [&](int part, range r) {
    std::vector<element> room;
    room.reserve(k);
    heap kept{std::greater<>{}, std::move(room)};
    for (std::size_t i = r.begin; i < r.end; ++i) {
      element const candidate{magnitude_bits(gradient[i]), static_cast<std::uint32_t>(i)};
      if (kept.size() < k) {
        kept.push(candidate);
      } else if (candidate > kept.top()) {
        kept.pop();
        kept.push(candidate);
      }
    }
    auto& mine = largest[static_cast<std::size_t>(part)].value;
    mine.reserve(kept.size());
    for (; !kept.empty(); kept.pop()) {
      mine.push_back(kept.top());
    }
  });
  std::vector<element> all = std::move(largest[0].value);
  for (std::size_t part = 1; part < largest.size(); ++part) {
    all.insert(all.end(), largest[part].value.begin(), largest[part].value.end());
  }
  if (largest.size() > 1) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k - 1), all.end(),
                     std::greater<>{});
  }
  for (std::size_t i = 0; i < k; ++i) {
    buffers.kept.index()[i] = all[i].index;
    buffers.kept.value()[i] = gradient[all[i].index];
  }
  return buffers.kept.first(k);
}

}  // namespace bird::peers
