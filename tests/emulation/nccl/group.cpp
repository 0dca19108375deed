#include "group.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "streams.hpp"

namespace loopback::group {
namespace {

struct call {
  communicator_ref comm;
  operation op;
};

struct state {
  int depth = 0;
  std::vector<host_job> jobs;
  std::vector<call> calls;
  std::optional<failure> error;
};
thread_local state mine;

/// Runs jobs at once, as each may wait for another. @returns the first failure
std::optional<failure> run_all(std::vector<host_job> const& jobs)
{
  std::vector<std::optional<failure>> errors(jobs.size());
  auto const run = [&](std::size_t i) {
    try {
      jobs[i].body();
    } catch (failure const& error) {
      errors[i] = error;
    }
  };
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < jobs.size(); ++i) {
    helpers.emplace_back(run, i);
  }
  if (!jobs.empty()) {
    run(0);
  }
  for (std::thread& helper : helpers) {
    helper.join();
  }
  auto const first =
    std::find_if(errors.begin(), errors.end(), [](auto const& error) { return error.has_value(); });
  return first == errors.end() ? std::nullopt : *first;
}

ncclResult_t do_jobs(std::vector<host_job> const& jobs)
{
  std::vector<host_job> waited;
  ncclResult_t result = ncclSuccess;
  for (host_job const& job : jobs) {
    if (job.comm->blocking) {
      waited.push_back(job);
      continue;
    }
    job.finish();
    result = ncclInProgress;
    std::thread([job] {
      try {
        job.body();
      } catch (failure const& error) {
        job.comm->fail(error.code, error.what());
      }
    }).detach();
  }
  if (auto const error = run_all(waited)) {
    throw *error;
  }
  for (host_job const& job : waited) {
    job.finish();
  }
  return result;
}

ncclResult_t do_calls(std::vector<call> const& calls)
{
  std::vector<communicator_ref> order;
  std::map<communicator*, std::vector<operation>> by_comm;
  for (call const& one : calls) {
    auto& operations = by_comm[one.comm.get()];
    if (operations.empty()) {
      order.push_back(one.comm);
    }
    operations.push_back(one.op);
  }
  std::vector<std::shared_ptr<batch>> batches;
  ncclResult_t result = ncclSuccess;
  for (communicator_ref const& comm : order) {
    for (operation& op : by_comm[comm.get()]) {
      op.call.number = ++comm->next_operation;
    }
    auto const one = std::make_shared<batch>(comm, by_comm[comm.get()]);
    if (comm->begin_polls([one] { streams::launch({one}); })) {
      result = ncclInProgress;
    } else {
      batches.push_back(one);
    }
  }
  streams::launch(batches);
  // What ran in the calling thread can say at once how it went.
  for (auto const& one : batches) {
    if (one->ended() && one->stream() == nullptr && one->comm().error() != ncclSuccess) {
      throw failure(one->comm().error(), one->comm().last_error());
    }
  }
  return result;
}

}  // namespace

void start() { ++mine.depth; }

ncclResult_t end()
{
  if (mine.depth == 0) {
    throw failure(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  }
  if (--mine.depth != 0) {
    return ncclSuccess;
  }
  state const closed = std::exchange(mine, {});
  if (closed.error) {
    throw *closed.error;
  }
  ncclResult_t const jobs  = do_jobs(closed.jobs);
  ncclResult_t const calls = do_calls(closed.calls);
  return jobs != ncclSuccess ? jobs : calls;
}

std::size_t simulate_end()
{
  if (mine.depth == 0) {
    throw failure(ncclInvalidUsage, "ncclGroupSimulateEnd without ncclGroupStart");
  }
  if (--mine.depth != 0) {
    return mine.calls.size();
  }
  state const closed = std::exchange(mine, {});
  if (closed.error) {
    throw *closed.error;
  }
  return closed.calls.size();
}

bool is_open() { return mine.depth != 0; }

void note(failure const& error)
{
  if (!mine.error) {
    mine.error = error;
  }
}

ncclResult_t add(communicator_ref comm, operation op)
{
  if (mine.depth == 0) {
    return do_calls({{std::move(comm), op}});
  }
  mine.calls.push_back({std::move(comm), op});
  return ncclSuccess;
}

ncclResult_t add(host_job job)
{
  if (mine.depth == 0) {
    return do_jobs({std::move(job)});
  }
  mine.jobs.push_back(std::move(job));
  return ncclSuccess;
}

}  // namespace loopback::group
