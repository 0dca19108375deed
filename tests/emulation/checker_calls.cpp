/// What -fsanitize=thread makes the compiler call. These functions take the place of the sanitizer's own: the
/// program is linked without its library.
#include "checker.hpp"

using emulation::access;
using emulation::after_atomic;
using emulation::before_atomic;
using emulation::fence;

#define BIRD_CALLER __builtin_return_address(0)

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* begin, std::size_t size) { access(begin, size, false, false, BIRD_CALLER); }
void __tsan_write_range(void* begin, std::size_t size) { access(begin, size, true, false, BIRD_CALLER); }

#define BIRD_ACCESS(size)                                                                     \
  void __tsan_read##size(void* at) { access(at, size, false, false, BIRD_CALLER); }           \
  void __tsan_write##size(void* at) { access(at, size, true, false, BIRD_CALLER); }           \
  void __tsan_unaligned_read##size(void* at) { access(at, size, false, false, BIRD_CALLER); } \
  void __tsan_unaligned_write##size(void* at) { access(at, size, true, false, BIRD_CALLER); } \
  void __tsan_volatile_read##size(void* at) { access(at, size, false, false, BIRD_CALLER); }  \
  void __tsan_volatile_write##size(void* at) { access(at, size, true, false, BIRD_CALLER); }
BIRD_ACCESS(1)
BIRD_ACCESS(2)
BIRD_ACCESS(4)
BIRD_ACCESS(8)
BIRD_ACCESS(16)

#define BIRD_CHANGE(bits, type, name, result)                                 \
  type __tsan_atomic##bits##_##name(type volatile* at, type value, int order) \
  {                                                                           \
    void const* const plain = const_cast<type*>(at);                          \
    before_atomic(plain, false, 0);                                           \
    type const before = *at;                                                  \
    *at               = static_cast<type>(result);                            \
    after_atomic(plain, sizeof(type), true, true, order, BIRD_CALLER);        \
    return before;                                                            \
  }
#define BIRD_ATOMIC(bits, type)                                                                             \
  type __tsan_atomic##bits##_load(type const volatile* at, int order)                                       \
  {                                                                                                         \
    void const* const plain = const_cast<type const*>(at);                                                  \
    before_atomic(plain, true, *at);                                                                        \
    type const value = *at;                                                                                 \
    after_atomic(plain, sizeof(type), true, false, order, BIRD_CALLER);                                     \
    return value;                                                                                           \
  }                                                                                                         \
  void __tsan_atomic##bits##_store(type volatile* at, type value, int order)                                \
  {                                                                                                         \
    void const* const plain = const_cast<type*>(at);                                                        \
    before_atomic(plain, false, 0);                                                                         \
    *at = value;                                                                                            \
    after_atomic(plain, sizeof(type), false, true, order, BIRD_CALLER);                                     \
  }                                                                                                         \
  int __tsan_atomic##bits##_compare_exchange_strong(type volatile* at, type* expected, type value,          \
                                                    int order, int failure_order)                           \
  {                                                                                                         \
    void const* const plain = const_cast<type*>(at);                                                        \
    before_atomic(plain, false, 0);                                                                         \
    type const before = *at;                                                                                \
    bool const equal  = before == *expected;                                                                \
    if (equal) {                                                                                            \
      *at = value;                                                                                          \
    } else {                                                                                                \
      *expected = before;                                                                                   \
    }                                                                                                       \
    after_atomic(plain, sizeof(type), true, equal, equal ? order : failure_order, BIRD_CALLER);             \
    return equal ? 1 : 0;                                                                                   \
  }                                                                                                         \
  type __tsan_atomic##bits##_compare_exchange_val(type volatile* at, type expected, type value, int order,  \
                                                  int failure_order)                                        \
  {                                                                                                         \
    __tsan_atomic##bits##_compare_exchange_strong(at, &expected, value, order, failure_order);              \
    return expected;                                                                                        \
  }                                                                                                         \
  BIRD_CHANGE(bits, type, exchange, value)                                                                  \
  BIRD_CHANGE(bits, type, fetch_add, before + value)                                                        \
  BIRD_CHANGE(bits, type, fetch_sub, before - value)                                                        \
  BIRD_CHANGE(bits, type, fetch_and, before& value)                                                         \
  BIRD_CHANGE(bits, type, fetch_or, before | value)                                                         \
  BIRD_CHANGE(bits, type, fetch_xor, before ^ value)                                                        \
  int __tsan_atomic##bits##_compare_exchange_weak(type volatile* at, type* expected, type value, int order, \
                                                  int failure_order)                                        \
  {                                                                                                         \
    return __tsan_atomic##bits##_compare_exchange_strong(at, expected, value, order, failure_order);        \
  }
BIRD_ATOMIC(8, std::uint8_t)
BIRD_ATOMIC(16, std::uint16_t)
BIRD_ATOMIC(32, std::uint32_t)
BIRD_ATOMIC(64, std::uint64_t)

void __tsan_atomic_signal_fence(int) {}
void __tsan_atomic_thread_fence(int order) { fence(order); }
}
