/// Where threads meet: barriers of a block and operations of a warp.
#include "meetings.hpp"

#include <algorithm>

namespace emulation {

void complete_groups(block& b, unsigned warp)
{
  for (std::unique_ptr<warp_group>& group : b.groups[warp]) {
    unsigned const arrived = group->values.mask;
    unsigned const needed  = group->mask & ~b.ended[warp];
    if (group->complete || arrived == 0 || (arrived & needed) != needed) {
      continue;
    }

    if ((group->mask & b.ended[warp] & ~b.absent[warp] & ~arrived) != 0) {
      report("a lane of the mask of a warp operation has ended");
    }
    group->complete = true;
    group->left     = static_cast<unsigned>(__builtin_popcount(arrived));
    std::vector<fiber*> lanes;
    std::vector<fiber*>& parked = b.parked[warp];
    for (std::size_t i = 0; i < parked.size();) {
      if ((arrived >> parked[i]->rank % 32 & 1U) != 0) {
        lanes.push_back(parked[i]);
        make_ready(*parked[i]);
        parked[i] = parked.back();
        parked.pop_back();
      } else {
        ++i;
      }
    }
    if (group->what == warp_operation::sync && checker.warp != nullptr) {
      checker.warp(lanes);  // the others order no memory
    }
  }
}

void complete_barrier(block& b)
{
  if (b.at_barrier == 0 || b.at_barrier < b.alive) {
    return;
  }
  b.result     = b.vote == barrier_vote::all     ? (b.votes == static_cast<int>(b.at_barrier) ? 1 : 0)
                 : b.vote == barrier_vote::count ? b.votes
                                                 : (b.votes > 0 ? 1 : 0);
  b.at_barrier = 0;
  b.votes      = 0;
  if (checker.barrier != nullptr) {
    checker.barrier(b);
  }
  for (fiber* const one : b.waiting) {
    make_ready(*one);
  }
  b.waiting.clear();
}

int block_barrier(barrier_vote vote, int predicate, int line)
{
  block& b = *running->owner;
  if (b.at_barrier != 0 && b.barrier_line != line) {
    report("threads of one block wait at different barriers, in lines " + std::to_string(b.barrier_line) +
           " and " + std::to_string(line));
  }
  b.barrier_line = line;
  b.vote         = vote;
  b.votes += predicate != 0 ? 1 : 0;
  ++b.at_barrier;
  note_progress();
  running->waits = "waits at a barrier";
  b.waiting.push_back(running);
  complete_barrier(b);
  give_way();
  return b.result;
}

warp_values warp_meet(unsigned mask, warp_operation what, std::uint64_t value)
{
  block& b            = *running->owner;
  unsigned const warp = running->rank / 32;
  unsigned const lane = running->rank % 32;
  if ((mask >> lane & 1U) == 0) {
    report("lane " + std::to_string(lane) + " calls a warp operation with a mask that lacks it");
  }
  warp_group* group = nullptr;
  for (std::unique_ptr<warp_group>& one : b.groups[warp]) {
    if (!one->complete && one->mask == mask) {
      if (one->what != what) {
        report("lanes of one mask meet in different warp operations");
      }
      group = one.get();
    }
  }
  if (group == nullptr) {
    b.groups[warp].push_back(std::make_unique<warp_group>());
    group       = b.groups[warp].back().get();
    group->mask = mask;
    group->what = what;
  }
  group->values.value[lane] = value;
  group->values.mask |= 1U << lane;
  note_progress();
  running->waits = "waits in a warp operation";
  b.parked[warp].push_back(running);
  complete_groups(b, warp);
  give_way();
  warp_values const all = group->values;
  if (--group->left == 0) {
    auto& groups = b.groups[warp];
    groups.erase(
      std::find_if(groups.begin(), groups.end(), [&](auto const& one) { return one.get() == group; }));
  }
  return all;
}

}  // namespace emulation
