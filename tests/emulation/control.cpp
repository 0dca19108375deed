/// Settings, reports, counters and planned failures.
#include <algorithm>
#include <cstdlib>

#include "machine.hpp"
#include "streams.hpp"

namespace emulation {
namespace {

std::uint64_t seed_of_environment()
{
  char const* const text = std::getenv("BIRD_EMULATION_SEED");
  return text == nullptr ? 1 : std::strtoull(text, nullptr, 0);
}

struct state {
  settings chosen;
  std::string reports;
  std::vector<launch_record> launches;
  counters counted;
  std::uint64_t calls     = 0;
  std::uint64_t failing   = 0;  ///< 0: none
  cudaError_t fail_status = cudaSuccess;
  call fail_kind          = call::any;
  bool calls_forbidden    = false;
  bool lost               = false;
};

state& now()
{
  static auto& one = *[] {
    auto* const made  = new state;
    made->chosen.seed = seed_of_environment();
    return made;
  }();
  return one;
}

}  // namespace

void reset(settings const& wanted)
{
  forget_streams();
  now()        = state{};
  now().chosen = wanted;
}

void reset()
{
  settings wanted;
  wanted.seed = seed_of_environment();
  reset(wanted);
}

settings const& current() { return now().chosen; }

std::string take_reports()
{
  std::string taken;
  std::swap(taken, now().reports);
  return taken;
}

std::vector<launch_record> const& launches() { return now().launches; }
counters const& counted() { return now().counted; }
counters& count() { return now().counted; }
std::size_t live_allocations() { return count_regions(); }

void fail_call(std::uint64_t n, cudaError_t status, call kind)
{
  now().calls       = 0;
  now().failing     = n;
  now().fail_status = status;
  now().fail_kind   = kind;
}
std::uint64_t calls_made() { return now().calls; }

cudaError_t admit_call(call kind)
{
  if (now().lost) {
    return cudaErrorLaunchFailure;
  }
  if (now().calls_forbidden) {
    return cudaErrorNotPermitted;
  }
  if (now().fail_kind != call::any && now().fail_kind != kind) {
    return cudaSuccess;
  }
  return ++now().calls == now().failing ? now().fail_status : cudaSuccess;
}
void forbid_calls(bool forbidden) { now().calls_forbidden = forbidden; }

void note_launch(launch_record const& record) { now().launches.push_back(record); }
void lose_device() { now().lost = true; }
bool device_is_lost() { return now().lost; }

void report(std::string&& what)
{
  {
    // A grid that ends here never comes back to destroy what its stacks hold.
    std::string line;
    line.swap(what);
    now().reports += line + " [" + where() + ", seed " + std::to_string(current().seed) + "]\n";
  }
  if (running != nullptr) {
    abort_grid();
  }
}

}  // namespace emulation
