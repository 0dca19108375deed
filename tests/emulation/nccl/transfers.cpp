/// Sends and receives: a channel for each pair of ranks takes one chunk at a time. Those of one pair go in
/// their order, all others at once. A send ends when its last chunk has been received, so that a program that
/// counts on buffering is found out.
#include <algorithm>
#include <cstring>
#include <set>

#include "batch.hpp"

namespace loopback {
namespace {

struct transfer {
  operation op;
  bool corrupt;
  std::size_t bytes;
  std::size_t done = 0;
  bool in_channel  = false;  ///< a send whose chunk has not been taken yet
  bool ended       = false;
};

class transfers : public activity {
 public:
  transfers(communicator& comm, std::vector<operation> const& ops, std::vector<faults::fate> const& fates)
    : comm_(comm), world_(*comm.world), rank_(comm.rank)
  {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      all_.push_back({ops[i], fates[i].corrupt, ops[i].call.count * ops[i].element()});
    }
  }

  bool advance() override
  {
    for (bool moved = true; moved;) {
      moved = false;
      std::set<std::pair<kind, int>> busy;  // channels whose first transfer has not ended
      for (transfer& one : all_) {
        if (one.ended || busy.count({one.op.call.what, one.op.call.root}) != 0) {
          continue;
        }
        if (one.op.call.what == kind::send ? push(one) : pull(one)) {
          moved = true;
          ++steps;
          world_.ring();
        }
        if (!one.ended) {
          busy.insert({one.op.call.what, one.op.call.root});
        }
      }
    }
    return std::all_of(all_.begin(), all_.end(), [](transfer const& one) { return one.ended; });
  }

  std::string text() const override
  {
    std::string waiting = "rank " + std::to_string(rank_) + " waits in";
    for (transfer const& one : all_) {
      if (!one.ended) {
        waiting += " operation " + std::to_string(one.op.call.number) + ", " + text_of(one.op.call) + ";";
      }
    }
    segment::lock const guard(world_);
    for (int q = 0; q < world_.nranks(); ++q) {
      call_record const& call = world_.rank(q).call;
      if (q != rank_ && call.number != 0) {
        waiting += " rank " + std::to_string(q) + " is at operation " + std::to_string(call.number) + ", " +
                   text_of(call) + ";";
      }
    }
    waiting.pop_back();
    return waiting;
  }

 private:
  [[noreturn]] void throw_mismatch(call_record const& send, call_record const& recv, int from, int to) const
  {
    throw failure(ncclInvalidUsage, "rank " + std::to_string(from) + " calls " + text_of(send) +
                                      ", but rank " + std::to_string(to) + " calls " + text_of(recv));
  }

  bool push(transfer& one)
  {
    int const peer      = one.op.call.root;
    auto& channel       = world_.channel(rank_, peer);
    std::size_t const m = std::min(world_.channel_bytes(), one.bytes - one.done);
    {
      segment::lock const guard(world_);
      if (channel.mismatch) {
        throw_mismatch(one.op.call, channel.call, rank_, peer);
      }
      if (channel.full) {
        require_alive(comm_, peer, one.op.call);
        return false;
      }
      if (one.in_channel && one.done == one.bytes) {
        one.ended = true;
        return true;
      }
      require_alive(comm_, peer, one.op.call);
    }
    std::byte* const slot = world_.channel_slot(rank_, peer);
    if (m != 0) {
      std::memcpy(slot, static_cast<std::byte const*>(one.op.send) + one.done, m);
    }
    if (one.corrupt) {
      std::transform(slot, slot + m, slot, [](std::byte b) { return ~b; });
    }
    segment::lock const guard(world_);
    channel.call   = one.op.call;
    channel.offset = one.done;
    channel.full   = true;
    one.done += m;
    one.in_channel = true;
    return true;
  }

  bool pull(transfer& one)
  {
    int const peer      = one.op.call.root;
    auto& channel       = world_.channel(peer, rank_);
    std::size_t const m = std::min(world_.channel_bytes(), one.bytes - one.done);
    {
      segment::lock const guard(world_);
      if (!channel.full) {
        require_alive(comm_, peer, one.op.call);
        return false;
      }
      call_record const sent = channel.call;
      if (sent.count * size_of(static_cast<ncclDataType_t>(sent.type)) != one.bytes) {
        channel.mismatch = true;
        channel.call     = one.op.call;  // for the sender's message
        throw_mismatch(sent, one.op.call, peer, rank_);
      }
    }
    if (m != 0) {
      std::memcpy(static_cast<std::byte*>(one.op.recv) + one.done, world_.channel_slot(peer, rank_), m);
    }
    segment::lock const guard(world_);
    channel.full = false;
    one.done += m;
    one.ended = one.done == one.bytes;
    return true;
  }

  communicator& comm_;
  segment& world_;
  int const rank_;
  std::vector<transfer> all_;
};

}  // namespace

std::unique_ptr<activity> make_transfers(communicator& comm, std::vector<operation> const& ops,
                                         std::vector<faults::fate> const& fates)
{
  return std::make_unique<transfers>(comm, ops, fates);
}

}  // namespace loopback
