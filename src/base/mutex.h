// Mutexes whose use clang checks at compile time: what a lock guards is declared, and an access without it is an error.
//
//   class Queue {
//    public:
//     void Push(int value) BRAID_EXCLUDES(mu_);  // takes the lock itself, so the caller must not hold it
//
//    private:
//     bool IsFull() const BRAID_REQUIRES(mu_);   // the caller holds the lock
//
//     mutable Mutex mu_;
//     CondVar more_;
//     std::deque<int> values_ BRAID_GUARDED_BY(mu_);
//   };
//
// The classes are those of the standard library with attributes, which its own classes do not have. GCC ignores them;
// the builds with sanitizers are clang's and compile with -Wthread-safety.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#if defined(__clang__)
#define BRAID_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define BRAID_THREAD_ATTRIBUTE(x)
#endif

// Of types: a lock, and an object that holds a lock for as long as it lives.
#define BRAID_CAPABILITY(name) BRAID_THREAD_ATTRIBUTE(capability(name))
#define BRAID_SCOPED_CAPABILITY BRAID_THREAD_ATTRIBUTE(scoped_lockable)
// Of members: the lock without which the member, or what it points to, is neither read nor written.
#define BRAID_GUARDED_BY(mutex) BRAID_THREAD_ATTRIBUTE(guarded_by(mutex))
#define BRAID_PT_GUARDED_BY(mutex) BRAID_THREAD_ATTRIBUTE(pt_guarded_by(mutex))
// Of functions, behind their parameters: the locks that the caller holds, or must not hold.
#define BRAID_REQUIRES(...) BRAID_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define BRAID_REQUIRES_SHARED(...) BRAID_THREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define BRAID_EXCLUDES(...) BRAID_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
// Of functions: the locks that are taken or given back by the call and stay so.
#define BRAID_ACQUIRE(...) BRAID_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define BRAID_ACQUIRE_SHARED(...) BRAID_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define BRAID_RELEASE(...) BRAID_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define BRAID_RELEASE_GENERIC(...) BRAID_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))

namespace braid {

/// A std::mutex. MutexLock takes it; Unlock() and Lock() are for a function that is called with the lock and gives it
/// back for a while.
class BRAID_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() BRAID_ACQUIRE() { mutex_.lock(); }
  void Unlock() BRAID_RELEASE() { mutex_.unlock(); }

 private:
  friend class MutexLock;
  std::mutex mutex_;
};

/// Holds a Mutex while it lives, except between its own Unlock() and Lock().
class BRAID_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) BRAID_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~MutexLock() BRAID_RELEASE() = default;
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Lock() BRAID_ACQUIRE() { lock_.lock(); }
  void Unlock() BRAID_RELEASE() { lock_.unlock(); }

 private:
  friend class CondVar;
  std::unique_lock<std::mutex> lock_;
};

/// A std::condition_variable. The lock is held when a wait begins and when it ends. Predicates run with the lock held
/// and say so, since they are functions of their own: `[this]() BRAID_REQUIRES(mu_) { return stop_; }`.
class CondVar {
 public:
  using Clock = std::chrono::steady_clock;

  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  void NotifyOne() { condition_.notify_one(); }
  void NotifyAll() { condition_.notify_all(); }

  /// May return without a notification.
  void Wait(MutexLock& lock) { condition_.wait(lock.lock_); }
  void WaitFor(MutexLock& lock, Clock::duration longest) { condition_.wait_for(lock.lock_, longest); }
  void WaitUntil(MutexLock& lock, Clock::time_point end) { condition_.wait_until(lock.lock_, end); }

  /// Until `ready` is true; with a time, what it says in the end.
  template <typename Predicate>
  void Wait(MutexLock& lock, const Predicate& ready) {
    condition_.wait(lock.lock_, ready);
  }
  template <typename Predicate>
  bool WaitFor(MutexLock& lock, Clock::duration longest, const Predicate& ready) {
    return condition_.wait_for(lock.lock_, longest, ready);
  }
  template <typename Predicate>
  bool WaitUntil(MutexLock& lock, Clock::time_point end, const Predicate& ready) {
    return condition_.wait_until(lock.lock_, end, ready);
  }

 private:
  std::condition_variable condition_;
};

/// A std::shared_mutex: many readers or one writer.
class BRAID_CAPABILITY("shared mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

 private:
  friend class ReaderLock;
  friend class WriterLock;
  std::shared_mutex mutex_;
};

/// Holds a SharedMutex for reading while it lives.
class BRAID_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) BRAID_ACQUIRE_SHARED(mutex) : lock_(mutex.mutex_) {}
  ~ReaderLock() BRAID_RELEASE_GENERIC() = default;
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  std::shared_lock<std::shared_mutex> lock_;
};

/// Holds a SharedMutex for writing while it lives.
class BRAID_SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) BRAID_ACQUIRE(mutex) : lock_(mutex.mutex_) {}
  ~WriterLock() BRAID_RELEASE() = default;
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  std::unique_lock<std::shared_mutex> lock_;
};

}  // namespace braid
