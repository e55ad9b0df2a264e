// Spare: reuses an object that is costly to make, one per thread.
#pragma once

#include <memory>
#include <utility>

namespace braid {

/// Takes the thread's spare object, or makes one, and returns it to the thread in the destructor. The taker owns it:
/// work that gives way in the middle (base/fiber.h) may end on another thread, while this one works on something else.
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
  // Not inlined: the destructor may run on another thread, where the variable has another address.
  [[gnu::noinline]] static Owner Exchange(Owner next) {
    thread_local Owner spare;
    return std::exchange(spare, std::move(next));
  }

  Owner held_;
};

}  // namespace braid
