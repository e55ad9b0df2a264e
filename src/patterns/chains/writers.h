// WriterThreads: the implementation of ChainWriters. Every chain has one queue, and every queue belongs to one writer
// at a time. A queue is busy while a batch with its records is being committed; no thread takes more from it then. So a
// chain may change its writer at any moment: the new one cannot start before the old one's batch is done, and what is
// queued keeps its order (C3, C7).
//
// A record of several chains stands in the queue of each, put there at one moment, and is taken when it is the first in
// all of them and none is busy. All such records stand in the same order in all queues, so there is always one that can
// be taken.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "braid/chains.h"

namespace braid::chains {

class WriterThreads final : public ChainWriters {
 public:
  using Time = std::chrono::steady_clock::time_point;

  WriterThreads(Chains& chains, const ChainWritersOptions& options);
  ~WriterThreads() override;

  using ChainWriters::Submit;
  Status Submit(ChainRecord record, Done done, WhenFull when_full) override;
  void Flush() override;
  Status Stop(std::chrono::milliseconds patience) override;
  Status Resize(uint32_t writers) override;
  Status GiveOwnWriter(int64_t chain) override;
  Status TakeBack(int64_t chain) override;
  std::vector<ChainWriterFigures> Figures() const override;
  Status failure() const override;

 private:
  struct Queue;
  struct Writer;
  /// A record that waits.
  struct Item {
    ChainRecord record;
    Done done;
    Time since;
    size_t bytes = 0;
    std::vector<Queue*> queues;  // of a record of several chains, where it stands; else empty
  };
  struct Queue {
    int64_t chain = 0;
    Writer* writer = nullptr;
    std::deque<std::shared_ptr<Item>> items;
    bool listed = false;         // in writer->ready; then it has items and is not busy
    const void* busy = nullptr;  // the batch that is being committed with its records, if any
    int64_t taken = 0;           // records in this interval
    bool by_hand = false;        // was given a writer of its own by hand
  };
  /// Sums of one interval.
  struct Sums {
    int64_t commits = 0;
    int64_t records = 0;
    double seconds = 0;
    double seconds_most = 0;
  };
  struct Writer {
    int id = 0;
    std::thread thread;
    CondVar wake;
    std::deque<Queue*> ready;  // queues with something to take, the longest waiting first
    size_t depth = 0;          // records in all of its queues
    size_t chains = 0;
    Queue* own = nullptr;  // the only queue, of a writer that has one of its own
    Sums sums;
    ChainWriterFigures figures;  // of the last interval
  };
  struct Batch {
    std::vector<std::shared_ptr<Item>> items;
    std::vector<Queue*> queues;
    size_t bytes = 0;
  };

  enum class Taken { kYes, kTooLarge, kNotYet };

  // The queues.
  Queue& QueueOf(int64_t chain) BRAID_REQUIRES(mu_);
  bool HasRoom(const Item& item) const BRAID_REQUIRES(mu_);
  void Push(const std::shared_ptr<Item>& item, Queue& queue) BRAID_REQUIRES(mu_);
  void List(Queue& queue) BRAID_REQUIRES(mu_);
  void Unlist(Queue& queue) BRAID_REQUIRES(mu_);

  // A writer's thread: waits for a batch, takes it, commits it and calls the callbacks.
  void Run(Writer& writer);
  bool AwaitBatch(Writer& writer, MutexLock& lock) BRAID_REQUIRES(mu_);
  void Collect(Writer& writer, Batch& batch) BRAID_REQUIRES(mu_);
  Taken Take(Queue& queue, Batch& batch) BRAID_REQUIRES(mu_);
  void Commit(Writer& writer, Batch& batch);
  Result<std::vector<Appended>> AppendUntilDone(Writer& writer, const std::vector<ChainRecord>& records);
  void Finish(Batch& batch) BRAID_REQUIRES(mu_);

  // Which writer has which chain (writer_moves.cc).
  Writer& NewWriter() BRAID_REQUIRES(mu_);
  Writer& LeastBusy() BRAID_REQUIRES(mu_);
  void Move(Queue& queue, Writer& to) BRAID_REQUIRES(mu_);
  void GiveOwn(Queue& queue) BRAID_REQUIRES(mu_);
  void GiveBack(Queue& queue) BRAID_REQUIRES(mu_);
  void Supervise();
  void MoveHotChains() BRAID_REQUIRES(mu_);
  void EndInterval(double seconds) BRAID_REQUIRES(mu_);

  Chains& chains_;
  const ChainWritersOptions options_;

  mutable Mutex mu_;  // also guards what the queues and the writers hold
  CondVar room_;
  CondVar idle_;     // nothing is queued or being committed
  CondVar stopped_;  // wakes the threads that wait between tries, and the supervisor
  std::unordered_map<int64_t, std::unique_ptr<Queue>> queues_ BRAID_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<Writer>> all_ BRAID_GUARDED_BY(mu_);  // every writer there ever was
  std::vector<Writer*> shared_ BRAID_GUARDED_BY(mu_);               // those that chains are spread over
  std::vector<Writer*> own_ BRAID_GUARDED_BY(mu_);                  // those of one chain
  std::vector<Writer*> spare_ BRAID_GUARDED_BY(mu_);                // without chains
  size_t outstanding_ BRAID_GUARDED_BY(mu_) = 0;
  bool stopping_ BRAID_GUARDED_BY(mu_) = false;
  Time give_up_at_ BRAID_GUARDED_BY(mu_) = Time::max();
  Status gave_up_ BRAID_GUARDED_BY(mu_);  // why what is left is not committed; then no later record of a chain may be
  std::thread supervisor_;
};

}  // namespace braid::chains
