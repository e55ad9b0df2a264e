// Spare: an object that is costly to make, and of which one per thread is enough.
#pragma once

#include <memory>
#include <utility>

namespace braid {

/// Takes the thread's spare object, or makes one, and leaves it to the thread at the end. The taker owns it: work
/// that gives way in the middle (base/fiber.h) may end on another thread, while this one works on something else.
template <typename T, typename Deleter>
class Spare {
 public:
  using Owner = std::unique_ptr<T, Deleter>;

  template <typename Make>
  explicit Spare(const Make& make) : held_(Exchange(nullptr)) {
    if (held_ == nullptr) held_.reset(make());
  }
  ~Spare() { Exchange(std::move(held_)); }
  Spare(const Spare&) = delete;
  Spare& operator=(const Spare&) = delete;

  T* get() const { return held_.get(); }

 private:
  // Not inlined: the thread at the end may be another one, and with it the place of the variable.
  [[gnu::noinline]] static Owner Exchange(Owner next) {
    thread_local Owner spare;
    return std::exchange(spare, std::move(next));
  }

  Owner held_;
};

}  // namespace braid
