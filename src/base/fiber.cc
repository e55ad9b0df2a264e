#include "base/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/sanitized.h"
#include "base/work.h"

namespace braid {
namespace {

namespace context = boost::context;

// Memory is only used as far as the stack grows. A sanitizer makes the frames of functions several times as large.
constexpr size_t kStackBytes = kSanitized ? 32u << 20 : 2u << 20;
// Kept even if nobody has needed them for a while. Under a sanitizer no stack ends (SwitchNotes).
constexpr size_t kIdleStacksKept = kSanitized ? SIZE_MAX : 64;

context::stack_context Allocate() { return context::protected_fixedsize_stack(kStackBytes).allocate(); }

}  // namespace

// A stack and the loop on it that runs the bodies of fibers. `caller` is the thread's own stack while this one runs.
struct Fiber::Stack {
  explicit Stack(const context::stack_context& allocated = Allocate())
      : memory(allocated), notes(static_cast<const char*>(memory.sp) - memory.size, memory.size) {
    self = context::fiber(std::allocator_arg, context::preallocated(memory.sp, memory.size, memory),
                          context::protected_fixedsize_stack(kStackBytes), [this](context::fiber&& from) {
                            notes.AtStack();
                            caller = std::move(from);
                            while (body != nullptr) {
                              (*body)();
                              body = nullptr;
                              Leave();
                            }
                            return std::move(caller);
                          });
  }
  ~Stack() {
    Enter();  // with nothing to run: the loop ends
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  // Switches from the thread to the stack, until the stack switches back.
  void Enter() {
    Stack* const outer = std::exchange(current, this);
    notes.ToStack();
    self = std::move(self).resume();
    notes.AtThread();
    current = outer;
  }
  // Switches from the stack to the thread, until a thread enters again.
  void Leave() {
    notes.ToThread();
    caller = std::move(caller).resume();
    notes.AtStack();
  }
  // The same in the middle of a body: the thread continues with other work.
  void LeaveWork() {
    Work* const work = Work::Exchange(nullptr);
    if (work != nullptr) work->Leave();
    Leave();
    Work::Exchange(work);
    if (work != nullptr) work->Enter();
  }

  // Gives the memory back that only deep recursion uses. While nothing runs on the stack.
  void ForgetDepths() {
    if (kSanitized || !std::exchange(used, false)) return;
    constexpr size_t kShallowBytes = 64 << 10;
    const auto guard_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    char* const bottom = static_cast<char*>(memory.sp) - memory.size + guard_bytes;
    const int failed = ::madvise(bottom, memory.size - guard_bytes - kShallowBytes, MADV_DONTNEED);
    BRAID_ASSERT(failed == 0);
  }

  static thread_local Stack* current;  // the stack that this thread runs on; null: its own

  const context::stack_context memory;
  SwitchNotes notes;
  context::fiber self;    // while it does not run
  context::fiber caller;  // while it runs
  const std::function<void()>* body = nullptr;
  Fiber* fiber = nullptr;
  bool used = false;  // since its depths were forgotten
};

thread_local Fiber::Stack* Fiber::Stack::current = nullptr;

// Stacks that are not in use. Mapping a stack and its first pages costs more than most requests, so that all stay until
// it is seen that fewer would have been enough.
class Fiber::Stacks {
 public:
  static Stacks& Instance() {
    static Stacks& stacks = *new Stacks();  // never destroyed: a fiber may end while the process does
    return stacks;
  }
  Stack* Take() {
    {
      const MutexLock lock(mu_);
      if (!idle_.empty()) {
        Stack* stack = idle_.back().release();
        idle_.pop_back();
        least_ = std::min(least_, idle_.size());
        return stack;
      }
      least_ = 0;
    }
    return new Stack();
  }
  void Return(Stack* stack) {
    std::unique_ptr<Stack> owned(stack);
    owned->used = true;
    const MutexLock lock(mu_);
    idle_.push_back(std::move(owned));
  }
  // The system is not called for each request, nor with the lock.
  void FreeUnused() {
    std::vector<std::unique_ptr<Stack>> others;
    size_t unused = 0;
    {
      const MutexLock lock(mu_);
      if (idle_.size() <= kIdleStacksKept) {
        least_ = idle_.size();
        return;
      }
      unused = least_ - std::min(least_, kIdleStacksKept);
      // The front ones, because the newest are taken first.
      const auto end = idle_.end() - static_cast<ptrdiff_t>(kIdleStacksKept);
      others.assign(std::move_iterator(idle_.begin()), std::move_iterator(end));
      idle_.erase(idle_.begin(), end);
    }
    others.erase(others.begin(), others.begin() + static_cast<ptrdiff_t>(unused));
    for (const auto& stack : others) stack->ForgetDepths();
    const MutexLock lock(mu_);
    idle_.insert(idle_.begin(), std::move_iterator(others.begin()), std::move_iterator(others.end()));
    least_ = idle_.size();
  }
  size_t idle() {
    const MutexLock lock(mu_);
    return idle_.size();
  }

 private:
  Mutex mu_;
  std::vector<std::unique_ptr<Stack>> idle_ BRAID_GUARDED_BY(mu_);
  size_t least_ BRAID_GUARDED_BY(mu_) = 0;  // how many were idle at the least, since FreeUnused()
};

Fiber::~Fiber() { BRAID_ASSERT(stack_ == nullptr); }

void Fiber::FreeUnusedStacks() { Stacks::Instance().FreeUnused(); }
size_t Fiber::idle_stacks() { return Stacks::Instance().idle(); }

bool Fiber::Run(const std::function<void()>& body, const Turn& turn) {
  BRAID_ASSERT(stack_ == nullptr);
  stack_ = Stacks::Instance().Take();
  stack_->body = &body;
  stack_->fiber = this;
  turn_ = turn;
  return Enter();
}

bool Fiber::Resume(const Turn& turn) {
  turn_ = turn;
  return Enter();
}

bool Fiber::Enter() {
  while (true) {
    turn_begin_ = {};
    stack_->Enter();
    if (stack_->body == nullptr) {
      Stacks::Instance().Return(std::exchange(stack_, nullptr));
      return true;
    }
    // From here on, once it is marked as parked, another thread may run the fiber.
    Parking* const parking = std::exchange(parking_, nullptr);
    if (parking == nullptr) {  // it gave way
      later_();
      return false;
    }
    parking->fiber_ = this;
    auto awake = Parking::State::kAwake;
    if (parking->state_.compare_exchange_strong(awake, Parking::State::kParked)) return false;
    parking->state_.store(Parking::State::kAwake);  // it was woken before it parked
  }
}

bool Fiber::IsTurnOver() {
  const Stack* const stack = Stack::current;
  if (stack == nullptr || !stack->fiber->later_) return false;
  Fiber& fiber = *stack->fiber;
  const auto now = std::chrono::steady_clock::now();
  // On the first call little has been done yet, so the clock is not read: quick requests never pay for it.
  if (fiber.turn_begin_ == std::chrono::steady_clock::time_point()) fiber.turn_begin_ = now;
  const Turn& turn = fiber.turn_;
  const bool is_wanted = turn.is_wanted != nullptr && turn.is_wanted->load(std::memory_order_relaxed);
  return now - fiber.turn_begin_ >= (is_wanted ? turn.at_least : turn.at_most);
}

void Fiber::GiveWay() {
  if (!IsTurnOver()) return;
  Stack::current->LeaveWork();  // without a parking: it can go on at once
}

void Parking::Park() {
  Fiber::Stack* const stack = Fiber::Stack::current;
  if (stack == nullptr) return ParkThread();
  stack->fiber->parking_ = this;
  stack->LeaveWork();
}

void Parking::ParkThread() {
  MutexLock lock(mu_);
  woken_.Wait(lock, [this] { return state_.load() == State::kWoken; });
  state_.store(State::kAwake);
}

void Parking::Unpark() {
  const MutexLock lock(mu_);
  const State before = state_.exchange(State::kWoken);
  if (before == State::kParked) {
    Fiber* const fiber = fiber_;
    state_.store(State::kAwake);
    fiber->ready_();
  } else {
    woken_.NotifyOne();
  }
}

}  // namespace braid
