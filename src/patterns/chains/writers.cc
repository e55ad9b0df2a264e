#include "patterns/chains/writers.h"

#include <algorithm>

#include "base/assert.h"
#include "base/backoff.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::chains {
namespace {

constexpr size_t kBatchBytesMax = 8u << 20;  // of several records; one alone may have more
constexpr std::chrono::seconds kStopPatience{30};

}  // namespace

WriterThreads::WriterThreads(Chains& chains, const ChainWritersOptions& options) : chains_(chains), options_(options) {
  const MutexLock lock(mu_);
  for (uint32_t i = 0; i < options.writers; ++i) shared_.push_back(&NewWriter());
  supervisor_ = std::thread([this] { Supervise(); });
}

WriterThreads::~WriterThreads() { WriterThreads::Stop(kStopPatience).Ignore("each record has got its own outcome"); }

Status WriterThreads::Submit(ChainRecord record, Done done, WhenFull when_full) {
  auto item = std::make_shared<Item>();
  item->bytes = record.payload.size() * (1 + record.also.size());
  if (item->bytes > Chains::kBatchBytesMax) {
    return Status(Code::kBadValue,
                  StrCat("a record of ", item->bytes, " bytes in all; the most is ", Chains::kBatchBytesMax));
  }
  item->record = std::move(record);
  item->done = std::move(done);
  MutexLock lock(mu_);
  Queue& queue = QueueOf(item->record.chain);
  if (!item->record.also.empty()) {
    item->queues.push_back(&queue);
    for (const int64_t other : item->record.also) item->queues.push_back(&QueueOf(other));
    // A record that names a chain twice is refused later; until then it must not wait for itself.
    std::sort(item->queues.begin(), item->queues.end());
    item->queues.erase(std::unique(item->queues.begin(), item->queues.end()), item->queues.end());
  }
  const auto room = [&]() BRAID_REQUIRES(mu_) {
    if (item->queues.empty()) return queue.writer->depth < options_.queue_records_max;
    return HasRoom(*item);
  };
  if (when_full == WhenFull::kWait) room_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return stopping_ || room(); });
  if (stopping_) return Status(Code::kShutdownInProgress, "the writers are stopping");
  if (!room()) {
    return Status(Code::kQueueFull, StrCat("chain ", item->record.chain, ": ", queue.writer->depth,
                                           " records wait already; send it again later"));
  }
  item->since = std::chrono::steady_clock::now();
  ++outstanding_;
  if (item->queues.empty()) Push(item, queue);
  for (Queue* each : item->queues) Push(item, *each);
  return {};
}

WriterThreads::Queue& WriterThreads::QueueOf(int64_t chain) {
  auto& queue = queues_[chain];
  if (queue == nullptr) {
    queue = std::make_unique<Queue>();
    queue->chain = chain;
    queue->writer = &LeastBusy();
    ++queue->writer->chains;
  }
  return *queue;
}

bool WriterThreads::HasRoom(const Item& item) const {
  return std::all_of(item.queues.begin(), item.queues.end(),
                     [&](const Queue* queue) { return queue->writer->depth < options_.queue_records_max; });
}

// A queue that has items, is not busy and is not listed waits for the other chains of its first item.
void WriterThreads::Push(const std::shared_ptr<Item>& item, Queue& queue) {
  queue.items.push_back(item);
  Writer& writer = *queue.writer;
  ++writer.depth;
  if (queue.items.size() == 1 && queue.busy == nullptr) {
    List(queue);
  } else if (writer.depth == options_.batch_records_max) {
    writer.wake.NotifyOne();
  }
}

void WriterThreads::List(Queue& queue) {
  BRAID_ASSERT(!queue.listed && queue.busy == nullptr && !queue.items.empty());
  queue.listed = true;
  queue.writer->ready.push_back(&queue);
  queue.writer->wake.NotifyOne();
}

void WriterThreads::Unlist(Queue& queue) {
  if (queue.listed) std::erase(queue.writer->ready, &queue);
  queue.listed = false;
}

void WriterThreads::Flush() {
  MutexLock lock(mu_);
  idle_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return outstanding_ == 0; });
}

Status WriterThreads::Stop(std::chrono::milliseconds patience) {
  MutexLock lock(mu_);
  if (stopping_) return gave_up_;
  stopping_ = true;
  give_up_at_ = std::chrono::steady_clock::now() + patience;
  room_.NotifyAll();
  stopped_.NotifyAll();
  for (const auto& writer : all_) writer->wake.NotifyAll();
  idle_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return outstanding_ == 0; });
  for (const auto& writer : all_) writer->wake.NotifyAll();
  std::vector<std::thread*> threads{&supervisor_};  // the threads of all writers: no new ones are started any more
  for (const auto& writer : all_) threads.push_back(&writer->thread);
  lock.Unlock();
  for (std::thread* thread : threads) thread->join();
  lock.Lock();
  return gave_up_;
}

// The loop of one writer's thread: wait for a batch, take it, commit it, call the callbacks.

void WriterThreads::Run(Writer& writer) {
  MutexLock lock(mu_);
  while (AwaitBatch(writer, lock)) {
    Batch batch;
    Collect(writer, batch);
    if (batch.items.empty()) continue;
    room_.NotifyAll();
    lock.Unlock();
    Commit(writer, batch);
    lock.Lock();
    Finish(batch);
  }
}

// False: all is done and the threads end.
bool WriterThreads::AwaitBatch(Writer& writer, MutexLock& lock) {
  for (;;) {
    if (stopping_ && outstanding_ == 0) return false;
    if (writer.ready.empty()) {
      writer.wake.Wait(lock);
      continue;
    }
    if (stopping_ || writer.depth >= options_.batch_records_max) return true;
    const Time due = writer.ready.front()->items.front()->since + options_.batch_delay;
    if (std::chrono::steady_clock::now() >= due) return true;
    writer.wake.WaitUntil(lock, due);
  }
}

void WriterThreads::Collect(Writer& writer, Batch& batch) {
  while (!writer.ready.empty() && batch.items.size() < options_.batch_records_max) {
    Queue& queue = *writer.ready.front();
    Unlist(queue);
    Taken taken = Taken::kYes;
    while (taken == Taken::kYes && !queue.items.empty() && batch.items.size() < options_.batch_records_max) {
      taken = Take(queue, batch);
    }
    if (taken == Taken::kTooLarge) {
      if (queue.busy == nullptr) List(queue);  // otherwise the end of this batch does it
      break;
    }
  }
}

// Takes the queue's first item, if it fits and, for one of several chains, if it is the first of all of them; if it is
// not, the item is taken through the last of its chains where it becomes the first.
WriterThreads::Taken WriterThreads::Take(Queue& queue, Batch& batch) {
  BRAID_ASSERT(!queue.items.empty());
  const std::shared_ptr<Item> item = queue.items.front();
  if (!batch.items.empty() && batch.bytes + item->bytes > kBatchBytesMax) return Taken::kTooLarge;
  Queue* const alone[] = {&queue};
  const std::span<Queue* const> queues = item->queues.empty() ? std::span<Queue* const>(alone) : item->queues;
  for (const Queue* each : queues) {
    if ((each->busy != nullptr && each->busy != &batch) || each->items.front() != item) return Taken::kNotYet;
  }
  for (Queue* each : queues) {
    Unlist(*each);
    each->items.pop_front();
    --each->writer->depth;
    ++each->taken;
    if (each->busy == nullptr) batch.queues.push_back(each);
    each->busy = &batch;
  }
  batch.bytes += item->bytes;
  batch.items.push_back(item);
  return Taken::kYes;
}

void WriterThreads::Commit(Writer& writer, Batch& batch) {
  std::vector<ChainRecord> records;
  records.reserve(batch.items.size());
  for (const auto& item : batch.items) records.push_back(std::move(item->record));
  const auto appended = AppendUntilDone(writer, records);
  BRAID_ASSERT(!appended.ok() || appended->size() == batch.items.size());
  Appended failed;
  if (!appended.ok()) failed.status = appended.error();
  for (size_t i = 0; i < batch.items.size(); ++i) {
    if (batch.items[i]->done) batch.items[i]->done(appended.ok() ? (*appended)[i] : failed);
  }
}

// While the store fails the batch is tried again, because nothing that comes later may pass it (C4).
Result<std::vector<Appended>> WriterThreads::AppendUntilDone(Writer& writer, const std::vector<ChainRecord>& records) {
  Backoff backoff(options_.retry_first, options_.retry_most);
  for (;;) {
    {
      const MutexLock lock(mu_);
      if (!gave_up_.ok()) return gave_up_;
    }
    const Time begin = std::chrono::steady_clock::now();
    auto appended = chains_.Append(records);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    MutexLock lock(mu_);
    if (appended.ok()) {
      writer.sums.commits += 1;
      writer.sums.records += static_cast<int64_t>(records.size());
      writer.sums.seconds += seconds;
      writer.sums.seconds_most = std::max(writer.sums.seconds_most, seconds);
      writer.figures.commits += 1;
      writer.figures.records += static_cast<int64_t>(records.size());
      writer.figures.last_error.clear();
      return appended;
    }
    if (writer.figures.last_error.empty()) {
      log::warn("writer {}: {} records are tried again: {}", writer.id, records.size(), appended.error().ToString());
    }
    ++writer.figures.retries;
    writer.figures.last_error = appended.error().ToString();
    const Time again = std::chrono::steady_clock::now() + backoff.Next();
    const bool hopeless = !chains_.clients().MayRecover(appended.error());
    while (!hopeless && std::chrono::steady_clock::now() < std::min(again, give_up_at_)) {
      stopped_.WaitUntil(lock, std::min(again, give_up_at_));
    }
    if (hopeless || std::chrono::steady_clock::now() >= give_up_at_) {
      if (gave_up_.ok()) gave_up_ = appended.error();
      return gave_up_;
    }
  }
}

void WriterThreads::Finish(Batch& batch) {
  BRAID_ASSERT(outstanding_ >= batch.items.size());
  for (Queue* queue : batch.queues) {
    BRAID_ASSERT(queue->busy == &batch);  // no other thread took from it meanwhile
    queue->busy = nullptr;
    if (!queue->items.empty()) List(*queue);
  }
  outstanding_ -= batch.items.size();
  if (outstanding_ > 0) return;
  idle_.NotifyAll();
  if (stopping_) {
    for (const auto& writer : all_) writer->wake.NotifyAll();
  }
}

}  // namespace braid::chains

namespace braid {

Status ChainWritersOptions::Validate() const {
  const auto range = [](const char* name, int64_t value, int64_t least, int64_t most) {
    if (value >= least && value <= most) return Status();
    return Status(Code::kBadValue, StrCat(name, " is ", value, ", not in ", least, "..", most));
  };
  BRAID_CHECK_OK(range("writers", writers, 1, 256));
  BRAID_CHECK_OK(range("batch_records_max", batch_records_max, 1, 10'000));
  BRAID_CHECK_OK(range("batch_delay", batch_delay.count(), 0, 1000));
  BRAID_CHECK_OK(range("queue_records_max", queue_records_max, 1, 1'000'000));
  BRAID_CHECK_OK(range("retry_first", retry_first.count(), 1, 60'000));
  BRAID_CHECK_OK(range("retry_most", retry_most.count(), retry_first.count(), 600'000));
  BRAID_CHECK_OK(range("interval", interval.count(), 10, 600'000));
  return hot_share > 0 ? Status() : Status(Code::kBadValue, "hot_share must be more than 0");
}

Result<std::unique_ptr<ChainWriters>> ChainWriters::Start(Chains& chains, const ChainWritersOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  return std::make_unique<chains::WriterThreads>(chains, options);
}

Result<std::future<Appended>> ChainWriters::Submit(ChainRecord record, WhenFull when_full) {
  auto promise = std::make_shared<std::promise<Appended>>();
  std::future<Appended> future = promise->get_future();
  BRAID_CHECK_OK(Submit(
      std::move(record), [promise](const Appended& appended) { promise->set_value(appended); }, when_full));
  return future;
}

}  // namespace braid
