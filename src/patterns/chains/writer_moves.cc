// Which writer has which chain, and how that changes while they run (C7).
#include <algorithm>

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "patterns/chains/writers.h"

namespace braid::chains {

// Started threads are kept: a chain may get and lose a dedicated writer many times.
WriterThreads::Writer& WriterThreads::NewWriter() {
  if (!spare_.empty()) {
    Writer& writer = *spare_.back();
    spare_.pop_back();
    return writer;
  }
  Writer& writer = *all_.emplace_back(std::make_unique<Writer>());
  writer.id = writer.figures.id = static_cast<int>(all_.size()) - 1;
  writer.thread = std::thread([this, &writer] { Run(writer); });
  return writer;
}

WriterThreads::Writer& WriterThreads::LeastBusy() {
  BRAID_ASSERT(!shared_.empty());
  return **std::min_element(shared_.begin(), shared_.end(),
                            [](const Writer* a, const Writer* b) { return a->chains < b->chains; });
}

// A batch that is being committed stays with the old writer; the new one can take from the queue only when it is done.
void WriterThreads::Move(Queue& queue, Writer& to) {
  Writer& from = *queue.writer;
  if (&from == &to) return;
  const bool listed = queue.listed;
  Unlist(queue);
  BRAID_ASSERT(from.depth >= queue.items.size() && from.chains > 0);
  from.depth -= queue.items.size();
  --from.chains;
  queue.writer = &to;
  to.depth += queue.items.size();
  ++to.chains;
  if (listed) List(queue);
  room_.NotifyAll();
}

void WriterThreads::GiveOwn(Queue& queue) {
  if (queue.writer->own == &queue) return;
  Writer& writer = NewWriter();
  BRAID_ASSERT(writer.own == nullptr && writer.chains == 0);
  own_.push_back(&writer);
  writer.own = &queue;
  Move(queue, writer);
}

void WriterThreads::GiveBack(Queue& queue) {
  Writer& writer = *queue.writer;
  if (writer.own != &queue) return;
  queue.by_hand = false;
  writer.own = nullptr;
  std::erase(own_, &writer);
  spare_.push_back(&writer);
  Move(queue, LeastBusy());
}

Status WriterThreads::GiveOwnWriter(int64_t chain) {
  const MutexLock lock(mu_);
  if (stopping_) return Status(Code::kShutdownInProgress, "the writers are stopping");
  Queue& queue = QueueOf(chain);
  GiveOwn(queue);
  queue.by_hand = true;
  return {};
}

Status WriterThreads::TakeBack(int64_t chain) {
  const MutexLock lock(mu_);
  if (stopping_) return Status(Code::kShutdownInProgress, "the writers are stopping");
  GiveBack(QueueOf(chain));
  return {};
}

Status WriterThreads::Resize(uint32_t writers) {
  ChainWritersOptions resized = options_;
  resized.writers = writers;
  BRAID_CHECK_OK(resized.Validate());
  const MutexLock lock(mu_);
  if (stopping_) return Status(Code::kShutdownInProgress, "the writers are stopping");
  while (shared_.size() < writers) shared_.push_back(&NewWriter());
  const std::vector<Writer*> leaving(shared_.begin() + writers, shared_.end());
  shared_.resize(writers);
  size_t next = 0;
  for (const auto& [chain, queue] : queues_) {
    if (queue->writer->own == nullptr) Move(*queue, *shared_[next++ % writers]);
  }
  spare_.insert(spare_.end(), leaving.begin(), leaving.end());
  return {};
}

void WriterThreads::Supervise() {
  MutexLock lock(mu_);
  Time begin = std::chrono::steady_clock::now();
  while (!stopping_) {
    stopped_.WaitUntil(lock, begin + options_.interval);
    const Time now = std::chrono::steady_clock::now();
    if (stopping_ || now < begin + options_.interval) continue;
    EndInterval(std::chrono::duration<double>(now - begin).count());
    MoveHotChains();
    begin = now;
    if (chains_.options().owner.empty()) continue;
    lock.Unlock();
    const auto lost = chains_.RenewLeases();
    if (!lost.ok()) log::warn("leases could not be renewed: {}", lost.error().ToString());
    if (lost.ok()) {
      for (const int64_t chain : *lost) log::warn("the lease of chain {} was lost", chain);
    }
    lock.Lock();
  }
}

// Fewer records than one batch are not enough to judge by.
void WriterThreads::MoveHotChains() {
  int64_t total = 0;
  for (const auto& [chain, queue] : queues_) total += queue->taken;
  const double hot = static_cast<double>(total) * options_.hot_share;
  for (const auto& [chain, queue] : queues_) {
    const auto taken = static_cast<double>(queue->taken);
    queue->taken = 0;
    const bool own = queue->writer->own != nullptr;
    if (!own && total >= options_.batch_records_max && taken >= hot && queue->writer->chains > 1) {
      log::info("chain {} has {} of {} records and gets a writer of its own", chain, taken, total);
      GiveOwn(*queue);
    } else if (own && !queue->by_hand && taken < hot / 2) {
      log::info("chain {} has {} of {} records and gives its writer back", chain, taken, total);
      GiveBack(*queue);
    }
  }
}

void WriterThreads::EndInterval(double seconds) {
  for (const auto& writer : all_) {
    const Sums sums = std::exchange(writer->sums, Sums());
    const auto commits = static_cast<double>(std::max<int64_t>(1, sums.commits));
    ChainWriterFigures& figures = writer->figures;
    figures.batch_records = static_cast<double>(sums.records) / commits;
    figures.records_per_second = static_cast<double>(sums.records) / seconds;
    figures.commit_mean_ms = sums.seconds / commits * 1000;
    figures.commit_most_ms = sums.seconds_most * 1000;
  }
}

std::vector<ChainWriterFigures> WriterThreads::Figures() const {
  const MutexLock lock(mu_);
  std::vector<ChainWriterFigures> all;
  for (const std::vector<Writer*>* group : {&shared_, &own_}) {
    for (const Writer* writer : *group) {
      ChainWriterFigures& figures = all.emplace_back(writer->figures);
      if (writer->own != nullptr) figures.own_chain = writer->own->chain;
      figures.chains = writer->chains;
      figures.queue_depth = writer->depth;
    }
  }
  return all;
}

Status WriterThreads::failure() const {
  const MutexLock lock(mu_);
  return gave_up_;
}

}  // namespace braid::chains
