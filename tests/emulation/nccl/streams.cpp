#include "streams.hpp"

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "host_streams.hpp"

namespace loopback::streams {
namespace {

/// The streams of one batch besides its first: they arrive, and go on when the batch has ended.
class junction {
 public:
  void arrive_and_wait()
  {
    std::unique_lock guard(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(guard, [&] { return done_; });
  }
  void wait_for(int streams)
  {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [&] { return arrived_ == streams; });
  }
  void open()
  {
    {
      std::lock_guard const guard(mutex_);
      done_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  bool done_   = false;
};

void launch_on_queue(std::shared_ptr<batch> const& one)
{
  int const device = one->comm().device;
  std::set<cudaStream_t> others;
  for (operation const& op : one->operations()) {
    others.insert(op.stream);
  }
  others.erase(one->stream());
  others.erase(nullptr);
  auto const meeting = std::make_shared<junction>();
  auto const count   = static_cast<int>(others.size());
  host_streams::enqueue(one->stream(), device, [one, meeting, count] {
    meeting->wait_for(count);
    one->run();
    meeting->open();
  });
  for (cudaStream_t const stream : others) {
    host_streams::enqueue(stream, device, [meeting] { meeting->arrive_and_wait(); });
  }
}

}  // namespace

void launch(std::vector<std::shared_ptr<batch>> const& batches)
{
  std::vector<std::shared_ptr<batch>> here;
  for (auto const& one : batches) {
    if (one->stream() == nullptr) {
      here.push_back(one);
    } else {
      launch_on_queue(one);
    }
  }
  if (here.empty()) {
    return;
  }
  // Of several ranks of one communicator each needs the others.
  std::vector<std::thread> helpers;
  for (std::size_t i = 1; i < here.size(); ++i) {
    helpers.emplace_back([one = here[i]] { one->run(); });
  }
  here.front()->run();
  for (std::thread& helper : helpers) {
    helper.join();
  }
}

void flush(communicator& comm) { comm.wait_for_operations(); }

void synchronize(cudaStream_t stream) { host_streams::synchronize(stream); }

int current_device() { return -1; }

void* allocate(std::size_t bytes) { return std::aligned_alloc(256, (bytes + 255) / 256 * 256); }
void release(void* memory) { std::free(memory); }

}  // namespace loopback::streams
