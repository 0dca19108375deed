#include "calls.hpp"

#include <algorithm>
#include <list>
#include <map>

namespace emulation {
namespace {

/// What has been queued outside of streams: tasks of launched graphs.
std::list<task>& loose_tasks()
{
  static auto& tasks = *new std::list<task>;
  return tasks;
}

task_times host_times;      ///< what the host has waited for
task_times executed;        ///< the last task of each lane, since the host last knew of all
unsigned lanes_given  = 0;  ///< never used again
std::uint32_t numbers = 0;  ///< of executed tasks

CUstream_st& legacy_stream()
{
  static auto& stream = *[] {
    auto* const made = new CUstream_st;
    made->legacy     = true;
    made->lane       = ++lanes_given;
    all_streams().push_back(made);
    return made;
  }();
  return stream;
}

random_source& order()
{
  static random_source source{0};
  return source;
}
std::uint64_t order_seed = 0;

bool is_reached(moment const& one) { return !one || one->reached; }
bool can_run(task const& one) { return std::all_of(one.after.begin(), one.after.end(), is_reached); }

task make_task(std::function<bool()> run, std::vector<moment> after, unsigned lane)
{
  return {std::move(run), std::move(after), std::make_shared<moment_state>(), lane, host_times};
}

/// Takes a task that can run out of its queue, at random. @returns false when there is none
bool take_task(task& taken)
{
  std::vector<CUstream_st*> ready;
  std::vector<std::list<task>::iterator> ready_loose;
  for (CUstream_st* const stream : all_streams()) {
    if (!stream->queue.empty() && can_run(stream->queue.front())) {
      ready.push_back(stream);
    }
  }
  for (auto one = loose_tasks().begin(); one != loose_tasks().end(); ++one) {
    if (can_run(*one)) {
      ready_loose.push_back(one);
    }
  }
  if (ready.empty() && ready_loose.empty()) {
    return false;
  }
  std::size_t const i = order().below(ready.size() + ready_loose.size());
  if (i < ready.size()) {
    taken = std::move(ready[i]->queue.front());
    ready[i]->queue.pop_front();
  } else {
    taken = std::move(*ready_loose[i - ready.size()]);
    loose_tasks().erase(ready_loose[i - ready.size()]);
  }
  return true;
}

void execute(task const& one)
{
  task_times known = one.host_before;
  for (moment const& earlier : one.after) {
    if (earlier) {
      learn(known, earlier->known);
    }
  }
  known[one.lane] = executed[one.lane] = ++numbers;
  if (checker.task != nullptr) {
    checker.task(known, one.lane);
  }
  if (!one.run()) {
    lose_device();
  }
  one.done->known   = std::move(known);
  one.done->reached = true;
}

/// When the host knows of all that ran, later work is ordered after all of it.
void forget_what_all_know()
{
  bool const all_known = std::all_of(executed.begin(), executed.end(), [](auto const& lane) {
    auto const found = host_times.find(lane.first);
    return found != host_times.end() && found->second >= lane.second;
  });
  bool const idle =
    loose_tasks().empty() && std::all_of(all_streams().begin(), all_streams().end(),
                                         [](CUstream_st const* stream) { return stream->queue.empty(); });
  if (all_known && idle) {
    executed.clear();
    host_times.clear();
    if (checker.all_ordered != nullptr) {
      checker.all_ordered();
    }
  }
}

}  // namespace

void learn(task_times& into, task_times const& from)
{
  for (auto const& [lane, number] : from) {
    std::uint32_t& known = into[lane];
    known                = std::max(known, number);
  }
}

std::vector<CUstream_st*>& all_streams()
{
  static auto& streams = *new std::vector<CUstream_st*>;
  return streams;
}

CUstream_st* resolve(cudaStream_t handle)
{
  if (handle == nullptr || handle == cudaStreamLegacy) {
    return &legacy_stream();
  }
  auto const& streams = all_streams();
  return std::find(streams.begin(), streams.end(), handle) == streams.end() ? nullptr : handle;
}

CUstream_st* make_stream(bool blocking)
{
  (void)legacy_stream();  // it is there first
  auto* const made = new CUstream_st;
  made->blocking   = blocking;
  made->lane       = ++lanes_given;
  all_streams().push_back(made);
  return made;
}

void remove_stream(CUstream_st& stream)
{
  auto& streams = all_streams();
  streams.erase(std::find(streams.begin(), streams.end(), &stream));
  delete &stream;
}

void enqueue(CUstream_st& stream, std::function<bool()> run, std::vector<moment> after)
{
  task one = make_task(std::move(run), std::move(after), stream.lane);
  if (stream.capture) {
    one.after.insert(one.after.end(), stream.captured_last.begin(), stream.captured_last.end());
    stream.captured_last = {one.done};
    stream.capture->tasks.push_back(std::move(one));
    return;
  }
  one.after.push_back(stream.last);
  if (stream.legacy) {
    for (CUstream_st* const other : all_streams()) {
      if (other != &stream && other->blocking) {
        one.after.push_back(other->last);
      }
    }
  } else if (stream.blocking) {
    one.after.push_back(legacy_stream().last);
  }
  stream.last = one.done;
  stream.queue.push_back(std::move(one));
}

moment enqueue_graph(CUstream_st& stream, recording const& recorded, moment const& last_launch)
{
  auto const nothing = [] { return true; };
  enqueue(stream, nothing, {last_launch});
  moment const begin = stream.last;
  std::map<moment, moment> of_launch;  // the recording's moments
  std::vector<moment> all;
  for (task const& one : recorded.tasks) {
    task copy = make_task(one.run, {begin}, ++lanes_given);
    for (moment const& earlier : one.after) {
      if (earlier) {
        copy.after.push_back(of_launch.at(earlier));
      }
    }
    of_launch[one.done] = copy.done;
    all.push_back(copy.done);
    loose_tasks().push_back(std::move(copy));
  }
  enqueue(stream, nothing, std::move(all));
  return stream.last;
}

cudaError_t drain_until(moment const& reached)
{
  if (order_seed != current().seed) {
    order_seed = current().seed;
    order()    = random_source{order_seed ^ 0xABCDEF};
  }
  while (!is_reached(reached) && !device_is_lost()) {
    task one;
    if (!take_task(one)) {
      report("the host waits for work that can never be done");
      break;
    }
    execute(one);
  }
  host_learns(reached);
  return device_is_lost() ? cudaErrorLaunchFailure : cudaSuccess;
}

void make_progress()
{
  task one;
  while (!device_is_lost() && order().below(2) != 0 && take_task(one)) {
    execute(one);
  }
}

void host_learns(moment const& reached)
{
  if (reached) {
    learn(host_times, reached->known);
  }
  forget_what_all_know();
}

cudaError_t drain(CUstream_st* stream)
{
  if (stream != nullptr) {
    return drain_until(stream->last);
  }
  cudaError_t status = cudaSuccess;
  for (CUstream_st* const one : all_streams()) {
    cudaError_t const its = drain_until(one->last);
    status                = its != cudaSuccess ? its : status;
  }
  return status;
}

void forget_streams()
{
  for (CUstream_st* const stream : all_streams()) {
    stream->queue.clear();
    stream->last    = nullptr;
    stream->capture = nullptr;
    stream->captured_last.clear();
  }
  loose_tasks().clear();
  executed.clear();
  host_times.clear();
  if (checker.all_ordered != nullptr) {
    checker.all_ordered();
  }
}

}  // namespace emulation
