#include "base/work.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/strings.h"

namespace braid {
namespace {

constexpr size_t kUncharged =
    64 * 1024;  // smaller amounts, which every stage of every cursor keeps, would only blur the figures

// Only accessed through functions of this file that are not inlined: a fiber may continue on another thread, and code
// that has read the variable's address before would continue to use the old thread's.
thread_local Work* current_work = nullptr;

Status TooMuch(int64_t limit) {
  return {Code::kExceededMemoryLimit,
          StrCat("the values that the expressions of one request compute may take ", limit, " bytes together")};
}

}  // namespace

[[gnu::noinline]] Work& Work::Current() {
  thread_local Work nobody;
  return current_work != nullptr ? *current_work : nobody;
}

[[gnu::noinline]] Work* Work::Exchange(Work* work) { return std::exchange(current_work, work); }

Status Work::Ask() {
  steps_left_ = kStepsBetween;
  if (!refused_.ok()) return std::exchange(refused_, Status());
  return Interrupted();
}

bool Work::AskLater() {
  Status status = Ask();
  if (status.ok()) return true;
  Refuse(std::move(status));
  return false;
}

void Work::Refuse(Status status) {
  if (refused_.ok()) refused_ = std::move(status);
  steps_left_ = 0;
}

void Work::Hold(int64_t bytes) {
  held_ = std::max<int64_t>(0, held_ + bytes);
  if (bytes > 0 && held_ > bytes_max_) Refuse(TooMuch(bytes_max_));
}

bool HeldMemory::Grow(size_t bytes, bool force) {
  Work& work = Work::Current();
  const auto more = static_cast<int64_t>(bytes - bytes_);
  const bool fits = work.held_ + more <= work.bytes_max_;
  if (!fits) work.Refuse(TooMuch(work.bytes_max_));
  if (!fits && !force) return false;
  if (bytes > kUncharged) {
    if (Status charged = charge_.Set(work.budget(), bytes); !charged.ok()) {
      work.Refuse(std::move(charged));
      if (!force) return false;
    }
  }
  work.held_ += more;
  bytes_ = bytes;
  return true;
}

Status HeldMemory::Set(size_t bytes) {
  if (bytes <= bytes_) {
    Shrink(bytes);
    return {};
  }
  return Grow(bytes, /*force=*/false) ? Status() : Work::Current().Tick();
}

void HeldMemory::Shrink(size_t bytes) {
  Work& work = Work::Current();
  work.held_ = std::max<int64_t>(0, work.held_ - static_cast<int64_t>(bytes_ - bytes));
  bytes_ = bytes;
  if (bytes <= kUncharged) {
    charge_.Release();
  } else {
    charge_.Set(work.budget(), bytes).Ignore("less than before always fits");
  }
}

namespace internal {

void* AllocateHeld(size_t bytes) {
  void* const at = ::operator new(bytes);
  Work::Current().Hold(static_cast<int64_t>(bytes));
  return at;
}

void DeallocateHeld(void* at, size_t bytes) {
  Work::Current().Hold(-static_cast<int64_t>(bytes));
  ::operator delete(at);
}

}  // namespace internal
}  // namespace braid
