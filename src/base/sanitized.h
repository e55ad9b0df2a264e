// kSanitized, and SwitchNotes: what a sanitizer has to be told when code switches stacks.
#pragma once

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BRAID_ADDRESS_SANITIZER 1
#include <sanitizer/common_interface_defs.h>
#endif
#if __has_feature(thread_sanitizer)
#define BRAID_THREAD_SANITIZER 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace braid {

/// Whether this is a build with AddressSanitizer or ThreadSanitizer.
#if defined(BRAID_ADDRESS_SANITIZER) || defined(BRAID_THREAD_SANITIZER)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Tells the sanitizer of this build, if there is one, on which stack the thread is. One object for each further stack.
/// Both sides of a switch call: the side that is left calls To…() right before the switch, and the side that goes on
/// calls At…() right after it. A stack that has been entered must never end: ThreadSanitizer would count the returns
/// from its functions on the stack of the thread.
#if defined(BRAID_ADDRESS_SANITIZER)
class SwitchNotes {
 public:
  SwitchNotes(const void* bottom, size_t bytes) : bottom_(bottom), bytes_(bytes) {}
  void ToStack() { __sanitizer_start_switch_fiber(&thread_frames_, bottom_, bytes_); }
  void AtStack() { __sanitizer_finish_switch_fiber(stack_frames_, &thread_bottom_, &thread_bytes_); }
  void ToThread() { __sanitizer_start_switch_fiber(&stack_frames_, thread_bottom_, thread_bytes_); }
  void AtThread() { __sanitizer_finish_switch_fiber(thread_frames_, nullptr, nullptr); }

 private:
  const void* const bottom_;
  const size_t bytes_;
  void* stack_frames_ = nullptr;   // what the sanitizer keeps of the frames of the stack while it does not run,
  void* thread_frames_ = nullptr;  // and of those of the thread while the stack runs
  const void* thread_bottom_ = nullptr;
  size_t thread_bytes_ = 0;
};
#elif defined(BRAID_THREAD_SANITIZER)
class SwitchNotes {
 public:
  SwitchNotes(const void*, size_t) {}
  // Inlined, so that no function begins on one stack and returns on the other.
  [[gnu::always_inline]] void ToStack() {
    thread_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(stack_, 0);
  }
  void AtStack() {}
  [[gnu::always_inline]] void ToThread() { __tsan_switch_to_fiber(thread_, 0); }
  void AtThread() {}

 private:
  void* const stack_ = __tsan_create_fiber(0);
  void* thread_ = nullptr;  // the thread that runs the stack
};
#else
class SwitchNotes {
 public:
  SwitchNotes(const void*, size_t) {}
  void ToStack() {}
  void AtStack() {}
  void ToThread() {}
  void AtThread() {}
};
#endif

}  // namespace braid
