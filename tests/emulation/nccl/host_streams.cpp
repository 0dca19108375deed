#include "host_streams.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace loopback::host_streams {
namespace {

constexpr auto linger = std::chrono::milliseconds(500);  // of a thread whose queue is empty

struct queue {
  std::deque<std::function<void()>> work;  ///< the front is being done
  bool has_thread = false;
};

struct queues {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<cudaStream_t, int>, std::shared_ptr<queue>> all;
};
queues& table()
{
  static queues& all = *new queues;  // threads of queues outlive main
  return all;
}

void serve(std::shared_ptr<queue> const& mine)
{
  queues& all = table();
  std::unique_lock guard(all.mutex);
  while (all.changed.wait_for(guard, linger, [&] { return !mine->work.empty(); })) {
    auto const work = mine->work.front();
    guard.unlock();
    work();
    guard.lock();
    mine->work.pop_front();
    all.changed.notify_all();
  }
  mine->has_thread = false;
}

}  // namespace

void enqueue(cudaStream_t stream, int device, std::function<void()> work)
{
  queues& all = table();
  {
    std::lock_guard const guard(all.mutex);
    auto& mine = all.all[{stream, device}];
    if (!mine) {
      mine = std::make_shared<queue>();
    }
    mine->work.push_back(std::move(work));
    if (!mine->has_thread) {
      mine->has_thread = true;
      std::thread([mine = mine] { serve(mine); }).detach();
    }
  }
  all.changed.notify_all();
}

void synchronize(cudaStream_t stream)
{
  queues& all = table();
  std::unique_lock guard(all.mutex);
  // Operations give up by themselves.
  all.changed.wait(guard, [&] {
    for (auto const& [key, one] : all.all) {
      if (key.first == stream && !one->work.empty()) {
        return false;
      }
    }
    return true;
  });
}

}  // namespace loopback::host_streams
