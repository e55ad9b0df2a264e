// What one writer's thread does: wait for a batch, take it, commit it, tell everyone.
#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "patterns/chains/writers.h"

namespace braid::chains {
namespace {

constexpr size_t kBatchBytesMax = 8u << 20;  // of several records; one alone may have more

}  // namespace

void WriterThreads::Run(Writer& writer) {
  std::unique_lock lock(mu_);
  while (AwaitBatch(writer, lock)) {
    Batch batch;
    Collect(writer, batch);
    if (batch.items.empty()) continue;
    room_.notify_all();
    lock.unlock();
    Commit(writer, batch);
    lock.lock();
    Finish(batch);
  }
}

// False: all is done and the threads end.
bool WriterThreads::AwaitBatch(Writer& writer, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (stopping_ && outstanding_ == 0) return false;
    if (writer.ready.empty()) {
      writer.wake.wait(lock);
      continue;
    }
    if (stopping_ || writer.depth >= options_.batch_records_max) return true;
    const Time due = writer.ready.front()->items.front()->since + options_.batch_delay;
    if (std::chrono::steady_clock::now() >= due) return true;
    writer.wake.wait_until(lock, due);
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
      if (queue.busy == nullptr) List(queue);  // else the end of this batch does it
      break;
    }
  }
}

// Takes the queue's first item, if it fits and, for one of several chains, if it is the first of all of them; if it is
// not, the last of the other chains to come so far will take it.
WriterThreads::Taken WriterThreads::Take(Queue& queue, Batch& batch) {
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
  Appended failed;
  if (!appended.ok()) failed.status = appended.error();
  for (size_t i = 0; i < batch.items.size(); ++i) {
    if (batch.items[i]->done) batch.items[i]->done(appended.ok() ? (*appended)[i] : failed);
  }
}

// While the store fails the batch is tried again, because nothing that comes later may pass it (C4).
Result<std::vector<Appended>> WriterThreads::AppendUntilDone(Writer& writer, const std::vector<ChainRecord>& records) {
  std::chrono::milliseconds wait = options_.retry_first;
  for (;;) {
    {
      const std::lock_guard lock(mu_);
      if (!gave_up_.ok()) return gave_up_;
    }
    const Time begin = std::chrono::steady_clock::now();
    auto appended = chains_.Append(records);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::unique_lock lock(mu_);
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
    const Time again = std::chrono::steady_clock::now() + wait;
    const bool hopeless = !chains_.clients().MayRecover(appended.error());
    while (!hopeless && std::chrono::steady_clock::now() < std::min(again, give_up_at_)) {
      stopped_.wait_until(lock, std::min(again, give_up_at_));
    }
    if (hopeless || std::chrono::steady_clock::now() >= give_up_at_) {
      if (gave_up_.ok()) gave_up_ = appended.error();
      return gave_up_;
    }
    wait = std::min(wait * 2, options_.retry_most);
  }
}

void WriterThreads::Finish(Batch& batch) {
  for (Queue* queue : batch.queues) {
    queue->busy = nullptr;
    if (!queue->items.empty()) List(*queue);
  }
  outstanding_ -= batch.items.size();
  if (outstanding_ > 0) return;
  idle_.notify_all();
  if (stopping_) {
    for (const auto& writer : all_) writer->wake.notify_all();
  }
}

}  // namespace braid::chains
