/// Fibers: one stack a GPU thread, switched in eight instructions. x86-64 only.
#include <pthread.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

#include "machine.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// Saves the registers that a callee must keep, changes the stack, and jumps to where that one was left.
extern "C" void bird_emulation_switch(void** save, void* load);
asm(R"(
.text
.globl bird_emulation_switch
.type bird_emulation_switch,@function
bird_emulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
.size bird_emulation_switch,.-bird_emulation_switch
)");

namespace emulation {

fiber* running = nullptr;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t stack_bytes = 512 * 1024;
#else
constexpr std::size_t stack_bytes = 128 * 1024;
#endif
constexpr std::size_t page = 4096;

std::vector<char*>& spare_stacks()
{
  static auto& stacks = *new std::vector<char*>;
  return stacks;
}

[[maybe_unused]] std::size_t host_stack_bytes = 0;

char* take_stack()
{
  if (!spare_stacks().empty()) {
    char* const stack = spare_stacks().back();
    spare_stacks().pop_back();
#if defined(__SANITIZE_ADDRESS__)
    // Its last owner ended in the middle of a call, with red zones still around that call's variables.
    __asan_unpoison_memory_region(stack + page, stack_bytes - page);
#endif
    return stack;
  }
  void* const memory =
    mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("emulation: no memory for a thread's stack");
    std::abort();
  }
  mprotect(memory, page, PROT_NONE);  // an overflow faults
  return static_cast<char*>(memory);
}

void (*first_call)() = nullptr;

void begin()
{
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  first_call();
}

}  // namespace

void prepare(fiber& one, void (*entry)())
{
  first_call = entry;
  one.stack  = take_stack();
  auto** top = reinterpret_cast<void**>(one.stack + stack_bytes);
  *--top     = nullptr;  // keeps the alignment that the ABI wants
  *--top     = reinterpret_cast<void*>(&begin);
  for (int saved = 0; saved < 6; ++saved) {
    *--top = nullptr;
  }
  one.stack_pointer = top;
}

void release_stack(fiber& one)
{
  if (one.stack != nullptr) {
    spare_stacks().push_back(one.stack);
    one.stack = nullptr;
  }
}

bool on_stack(fiber const& one, char const* address)
{
  return static_cast<std::size_t>(address - one.stack) < stack_bytes;
}

void note_host_stack(fiber& host)
{
  pthread_attr_t attributes;
  void* low        = nullptr;
  std::size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  host.stack       = static_cast<char*>(low);
  host_stack_bytes = size;
}

void switch_context(fiber& from, fiber& to)
{
  bool const to_host = to.owner == nullptr;
  running            = to_host ? nullptr : &to;
  if (!to_host) {
    threadIdx = to.thread;
    blockIdx  = to.owner->index;
  }
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(from.ended ? nullptr : &from.fake_stack, to.stack,
                                 to_host ? host_stack_bytes : stack_bytes);
#endif
  bird_emulation_switch(&from.stack_pointer, to.stack_pointer);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

}  // namespace emulation
