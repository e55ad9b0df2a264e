// The threads behind ChainWriters. Every chain has one queue, and every queue belongs to one writer at a time. A queue
// is busy while a batch with its records is being committed; nobody takes more of it then. So a chain may change its
// writer at any moment: the new one cannot start before the old one's batch is done, and what is queued keeps its order
// (C3, C7).
//
// A record of several chains stands in the queue of each, put there at one moment, and is taken when it is the first in
// all of them and none is busy. All such records stand in the same order in all queues, so there is always one that can
// be taken.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "braid/chains.h"

namespace braid::chains {

class WriterThreads {
 public:
  using Done = ChainWriters::Done;
  using WhenFull = ChainWriters::WhenFull;
  using Time = std::chrono::steady_clock::time_point;

  WriterThreads(Chains& chains, const ChainWritersOptions& options);
  ~WriterThreads();

  Status Submit(ChainRecord record, Done done, WhenFull when_full);
  void Flush();
  Status Stop(std::chrono::milliseconds patience);
  Status Resize(uint32_t writers);
  Status GiveOwnWriter(int64_t chain);
  Status TakeBack(int64_t chain);
  std::vector<ChainWriterFigures> Figures() const;
  Status failure() const;

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
    std::condition_variable wake;
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

  // Of writers.cc; all under mu_.
  Queue& QueueOf(int64_t chain);
  bool HasRoom(const Item& item) const;
  void Push(const std::shared_ptr<Item>& item, Queue& queue);
  void List(Queue& queue);
  void Unlist(Queue& queue);

  // Of writer_loop.cc.
  void Run(Writer& writer);
  bool AwaitBatch(Writer& writer, std::unique_lock<std::mutex>& lock);
  void Collect(Writer& writer, Batch& batch);
  Taken Take(Queue& queue, Batch& batch);
  void Commit(Writer& writer, Batch& batch);
  Result<std::vector<Appended>> AppendUntilDone(Writer& writer, const std::vector<ChainRecord>& records);
  void Finish(Batch& batch);

  // Of writer_moves.cc; all under mu_ but Supervise.
  Writer& NewWriter();
  Writer& LeastBusy();
  void Move(Queue& queue, Writer& to);
  void GiveOwn(Queue& queue);
  void GiveBack(Queue& queue);
  void Supervise();
  void MoveHotChains();
  void EndInterval(double seconds);

  Chains& chains_;
  const ChainWritersOptions options_;

  mutable std::mutex mu_;  // guards all that follows, the queues and the writers
  std::condition_variable room_;
  std::condition_variable idle_;     // nothing is queued or being committed
  std::condition_variable stopped_;  // wakes who waits between tries, and the supervisor
  std::unordered_map<int64_t, std::unique_ptr<Queue>> queues_;
  std::vector<std::unique_ptr<Writer>> all_;  // every writer there ever was
  std::vector<Writer*> shared_;               // those that chains are spread over
  std::vector<Writer*> own_;                  // those of one chain
  std::vector<Writer*> spare_;                // without chains
  size_t outstanding_ = 0;
  bool stopping_ = false;
  Time give_up_at_ = Time::max();
  Status gave_up_;  // why what is left is not committed; then no later record of a chain may be
  std::thread supervisor_;
};

}  // namespace braid::chains
