/// Collectives, in chunks that fit a rank's slot. For each chunk every rank
///   publishes what the others need of it in its slot      (when all have taken the chunk before)
///   reduces its part of the chunk, for an all-reduce      (when all have published)
///   takes what it is to receive                           (when all have reduced, or published)
/// and counts these steps in `progress`: all ranks take equally many, as their calls match, which is checked
/// when the first chunk is there.
#include <algorithm>
#include <cstring>

#include "arithmetic.hpp"
#include "batch.hpp"

namespace loopback {
namespace {

std::byte const* offset_by(void const* from, std::size_t bytes)
{
  return static_cast<std::byte const*>(from) + bytes;
}
std::byte* offset_by(void* from, std::size_t bytes) { return static_cast<std::byte*>(from) + bytes; }

class collective : public activity {
 public:
  collective(communicator& comm, operation const& op, faults::fate const& fate)
    : comm_(comm), world_(*comm.world), op_(op), fate_(fate), rank_(comm.rank), n_(comm.nranks)
  {
    bool const of_blocks = op.call.what == kind::reduce_scatter || op.call.what == kind::all_to_all ||
                           op.call.what == kind::scatter;
    parts_ = of_blocks ? static_cast<std::size_t>(n_) : 1;
    most_  = std::max<std::size_t>(1, world_.slot_bytes() / (parts_ * op.element()));
    segment::lock const guard(world_);
    progress_ = world_.rank(rank_).progress;
  }

  bool advance() override
  {
    while (all_have(progress_)) {
      switch (next_) {
        case stage::publish:
          length_ = std::min<std::size_t>(most_, op_.call.count - offset_);
          publish();
          next_ = stage::check;
          break;
        case stage::check:
          if (offset_ == 0) {
            check_match();
          }
          if (op_.call.what == kind::all_reduce) {
            reduce_part();
            next_ = stage::take;
            break;
          }
          [[fallthrough]];
        case stage::take:
          take();
          offset_ += length_;
          if (offset_ == op_.call.count) {
            return true;
          }
          next_ = stage::publish;
          break;
      }
    }
    return false;
  }

  std::string text() const override
  {
    std::string missing;
    segment::lock const guard(world_);
    for (int q = 0; q < n_; ++q) {
      shared_rank const& other = world_.rank(q);
      if (other.progress < progress_) {
        missing += "; it waits for rank " + std::to_string(q);
        missing += other.call.number == 0 ? ", which has called nothing yet"
                                          : ", whose last is operation " + std::to_string(other.call.number) +
                                              ", " + text_of(other.call);
      }
    }
    return "operation " + std::to_string(op_.call.number) + ", " + text_of(op_.call) + missing;
  }

 private:
  enum class stage { publish, check, take };

  bool all_have(std::uint64_t progress)
  {
    segment::lock const guard(world_);
    for (int q = 0; q < n_; ++q) {
      if (world_.rank(q).progress < progress) {
        require_alive(comm_, q, op_.call);
        return false;
      }
    }
    return true;
  }

  void count_step()
  {
    {
      segment::lock const guard(world_);
      world_.rank(rank_).progress = ++progress_;
      if (offset_ == 0 && next_ == stage::publish) {
        world_.rank(rank_).published = op_.call;
      }
    }
    ++steps;
    world_.ring();
  }

  void check_match() const
  {
    segment::lock const guard(world_);
    call_record const& first = world_.rank(0).published;
    for (int q = 1; q < n_; ++q) {
      call_record const& other = world_.rank(q).published;
      if (!match(first, other)) {
        throw failure(ncclInvalidUsage, "operation " + std::to_string(op_.call.number) +
                                          " differs: rank 0 calls " + text_of(first) + ", rank " +
                                          std::to_string(q) + " calls " + text_of(other));
      }
    }
  }

  std::size_t bytes(std::size_t elements) const { return elements * op_.element(); }

  void publish()
  {
    bool const roots_only = op_.call.what == kind::broadcast || op_.call.what == kind::scatter;
    if (!roots_only || rank_ == op_.call.root) {
      std::byte* const slot = world_.slot(rank_);
      for (std::size_t part = 0; part < parts_; ++part) {
        scale_into(slot + bytes(part * length_), offset_by(op_.send, bytes(part * op_.call.count + offset_)),
                   length_, op_, n_);
      }
      if (fate_.corrupt) {
        std::transform(slot, slot + bytes(parts_ * length_), slot, [](std::byte b) { return ~b; });
      }
    }
    count_step();
  }

  /// What the ranks have published, from this element of the slot.
  std::vector<void const*> published(std::size_t from) const
  {
    std::vector<void const*> all;
    for (int q = 0; q < n_; ++q) {
      all.push_back(world_.slot(q) + bytes(from));
    }
    return all;
  }

  std::size_t begin_of_part(int rank) const
  {
    return length_ * static_cast<std::size_t>(rank) / static_cast<std::size_t>(n_);
  }

  void reduce_part()
  {
    std::size_t const begin = begin_of_part(rank_);
    std::size_t const count = begin_of_part(rank_ + 1) - begin;
    reduce_into(world_.result(rank_), published(begin), count, op_);
    count_step();
  }

  void take()
  {
    auto const self      = static_cast<std::size_t>(rank_);
    bool const is_root   = rank_ == op_.call.root;
    std::byte* const out = op_.recv == nullptr ? nullptr : offset_by(op_.recv, bytes(offset_));
    auto const copy      = [&](std::size_t to, std::byte const* from, std::size_t count) {
      std::memcpy(out + bytes(to), from, bytes(count));
    };
    switch (op_.call.what) {
      case kind::all_reduce:
        for (int q = 0; q < n_; ++q) {
          copy(begin_of_part(q), world_.result(q), begin_of_part(q + 1) - begin_of_part(q));
        }
        break;
      case kind::reduce_scatter:
        reduce_into(out, published(self * length_), length_, op_);
        break;
      case kind::reduce:
        if (is_root) {
          reduce_into(out, published(0), length_, op_);
        }
        break;
      case kind::broadcast:
        copy(0, world_.slot(op_.call.root), length_);
        break;
      case kind::scatter:
        copy(0, world_.slot(op_.call.root) + bytes(self * length_), length_);
        break;
      case kind::gather:
      case kind::all_gather:
      case kind::all_to_all:
        for (int q = 0; q < n_ && (op_.call.what != kind::gather || is_root); ++q) {
          copy(static_cast<std::size_t>(q) * op_.call.count,
               world_.slot(q) + (op_.call.what == kind::all_to_all ? bytes(self * length_) : 0), length_);
        }
        break;
      default:
        break;
    }
    count_step();
  }

  communicator& comm_;
  segment& world_;
  operation const op_;
  faults::fate const fate_;
  int const rank_;
  int const n_;
  std::size_t parts_      = 1;  ///< blocks of a slot
  std::size_t most_       = 1;  ///< elements of a chunk
  std::size_t offset_     = 0;
  std::size_t length_     = 0;
  std::uint64_t progress_ = 0;
  stage next_             = stage::publish;
};

}  // namespace

std::unique_ptr<activity> make_collective(communicator& comm, operation const& op, faults::fate const& fate)
{
  return std::make_unique<collective>(comm, op, fate);
}

}  // namespace loopback
