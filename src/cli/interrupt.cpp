#include "interrupt.hpp"

#include <atomic>
#include <csignal>

namespace bird::cli {
namespace {

std::atomic<bool> signalled{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler writes it");

void on_signal(int /*number*/) { signalled = true; }

void set_handler(void (*handler)(int))
{
  struct sigaction action = {};
  action.sa_handler       = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // the second signal takes its default way
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

interrupt_guard::interrupt_guard()
{
  signalled = false;
  set_handler(&on_signal);
}

interrupt_guard::~interrupt_guard() { set_handler(SIG_DFL); }

bool interrupt_guard::requested() const { return signalled; }

}  // namespace bird::cli
