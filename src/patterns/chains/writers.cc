#include "patterns/chains/writers.h"

#include <algorithm>

#include "base/strings.h"

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

ChainWriters::ChainWriters(std::unique_ptr<chains::WriterThreads> threads) : threads_(std::move(threads)) {}
ChainWriters::~ChainWriters() { Stop().Ignore("each record was told its own outcome"); }

Result<std::unique_ptr<ChainWriters>> ChainWriters::Start(Chains& chains, const ChainWritersOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  return std::unique_ptr<ChainWriters>(new ChainWriters(std::make_unique<chains::WriterThreads>(chains, options)));
}

Status ChainWriters::Submit(ChainRecord record, Done done, WhenFull when_full) {
  return threads_->Submit(std::move(record), std::move(done), when_full);
}

Result<std::future<Appended>> ChainWriters::Submit(ChainRecord record, WhenFull when_full) {
  auto promise = std::make_shared<std::promise<Appended>>();
  std::future<Appended> future = promise->get_future();
  BRAID_CHECK_OK(threads_->Submit(
      std::move(record), [promise](const Appended& appended) { promise->set_value(appended); }, when_full));
  return future;
}

void ChainWriters::Flush() { threads_->Flush(); }
Status ChainWriters::Stop(std::chrono::milliseconds patience) { return threads_->Stop(patience); }
Status ChainWriters::Resize(uint32_t writers) { return threads_->Resize(writers); }
Status ChainWriters::GiveOwnWriter(int64_t chain) { return threads_->GiveOwnWriter(chain); }
Status ChainWriters::TakeBack(int64_t chain) { return threads_->TakeBack(chain); }
std::vector<ChainWriterFigures> ChainWriters::Figures() const { return threads_->Figures(); }
Status ChainWriters::failure() const { return threads_->failure(); }

namespace chains {

WriterThreads::WriterThreads(Chains& chains, const ChainWritersOptions& options) : chains_(chains), options_(options) {
  const std::lock_guard lock(mu_);
  for (uint32_t i = 0; i < options.writers; ++i) shared_.push_back(&NewWriter());
  supervisor_ = std::thread([this] { Supervise(); });
}

WriterThreads::~WriterThreads() = default;  // ChainWriters has stopped them

Status WriterThreads::Submit(ChainRecord record, Done done, WhenFull when_full) {
  auto item = std::make_shared<Item>();
  item->bytes = record.payload.size() * (1 + record.also.size());
  if (item->bytes > Chains::kBatchBytesMax) {
    return Status(Code::kBadValue,
                  StrCat("a record of ", item->bytes, " bytes in all; the most is ", Chains::kBatchBytesMax));
  }
  item->record = std::move(record);
  item->done = std::move(done);
  std::unique_lock lock(mu_);
  Queue& queue = QueueOf(item->record.chain);
  if (!item->record.also.empty()) {
    item->queues.push_back(&queue);
    for (const int64_t other : item->record.also) item->queues.push_back(&QueueOf(other));
    // A chain that is named twice is refused later; it must not wait for itself until then.
    std::sort(item->queues.begin(), item->queues.end());
    item->queues.erase(std::unique(item->queues.begin(), item->queues.end()), item->queues.end());
  }
  const auto room = [&] {
    if (item->queues.empty()) return queue.writer->depth < options_.queue_records_max;
    return HasRoom(*item);
  };
  if (when_full == WhenFull::kWait) room_.wait(lock, [&] { return stopping_ || room(); });
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
    writer.wake.notify_one();
  }
}

void WriterThreads::List(Queue& queue) {
  queue.listed = true;
  queue.writer->ready.push_back(&queue);
  queue.writer->wake.notify_one();
}

void WriterThreads::Unlist(Queue& queue) {
  if (queue.listed) std::erase(queue.writer->ready, &queue);
  queue.listed = false;
}

void WriterThreads::Flush() {
  std::unique_lock lock(mu_);
  idle_.wait(lock, [&] { return outstanding_ == 0; });
}

Status WriterThreads::Stop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mu_);
  if (stopping_) return gave_up_;
  stopping_ = true;
  give_up_at_ = std::chrono::steady_clock::now() + patience;
  room_.notify_all();
  stopped_.notify_all();
  for (const auto& writer : all_) writer->wake.notify_all();
  idle_.wait(lock, [&] { return outstanding_ == 0; });
  for (const auto& writer : all_) writer->wake.notify_all();
  lock.unlock();
  for (const auto& writer : all_) writer->thread.join();
  supervisor_.join();
  return gave_up_;
}

}  // namespace chains
}  // namespace braid
