// Pulling shards side by side, merging their rows by key, and merging them in rounds.
#include "engine/exec/plan/gather.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"
#include "base/work.h"
#include "base/workers.h"

namespace braid::query::plan {
namespace {

/// Of one shard. Waking another thread costs about a tenth of this.
constexpr auto kLong = std::chrono::microseconds(100);

constexpr size_t kRowsFirst = 16;
constexpr size_t kRowsMax = 1024;
constexpr size_t kBytesMax = 1u << 20;
constexpr size_t kUnchargedMax = 64 * 1024;
constexpr size_t kRowsByKey = 128;  // a first batch of find is 101

}  // namespace

void RunPieces(txn::Context& context, size_t count, const std::function<void(size_t)>& piece) {
  const auto run = [&](size_t i) {
    // Not the caller's work, which belongs to one thread at a time.
    txn::OperationWork work(context.operation(), context.shared().memory);
    const WorkEntered entered(work);
    piece(i);
  };
  if (Workers* const workers = context.shared().workers) return workers->Run(count, run);
  for (size_t i = 0; i < count; ++i) piece(i);
}

void ShardPulls::Run(txn::Context& context, size_t count, const std::function<bool(size_t i, bool alone)>& pull) {
  const auto started = std::chrono::steady_clock::now();
  size_t done = 0;
  while (done < count && (context.shared().workers == nullptr || !slow_)) {
    const bool enough = !pull(done, true);
    ++done;
    slow_ = slow_ || std::chrono::steady_clock::now() - started > kLong * done;
    if (enough) return;
  }
  if (done < count) RunPieces(context, count - done, [&](size_t i) { pull(done + i, false); });
}

KeyMerge::KeyMerge(std::vector<std::unique_ptr<ShardPlan>>& shards, bool backward) : backward_(backward) {
  sources_.reserve(shards.size());
  for (auto& shard : shards) sources_.push_back({.plan = shard.get()});
}

void KeyMerge::Peek(txn::Context& context, SpareCursor* spare, Source& source) {
  std::string_view key;
  const Result<bool> more = source.plan->PeekKey(context, spare, &key);
  if (!more.ok()) source.status = more.error();
  source.ended = !more.value_or(false);
  if (!source.ended) source.key = key;
}

Status KeyMerge::PeekAll(txn::Context& context) {
  SpareCursor spare;
  pulls_.Run(context, sources_.size(), [&](size_t i, bool alone) {
    Peek(context, alone ? &spare : nullptr, sources_[i]);
    return true;
  });
  for (const Source& source : sources_) BRAID_CHECK_OK(source.status);
  started_ = true;
  return {};
}

KeyMerge::Source* KeyMerge::First() {
  Source* first = nullptr;
  for (Source& source : sources_) {
    if (!source.key) continue;
    if (first == nullptr || (backward_ ? *source.key > *first->key : *source.key < *first->key)) first = &source;
  }
  return first;
}

Result<ShardPlan*> KeyMerge::Next(txn::Context& context, Row* row) {
  if (!started_) BRAID_CHECK_OK(PeekAll(context));
  while (true) {
    if (last_ != nullptr && !last_->ended) {
      Peek(context, nullptr, *last_);
      BRAID_CHECK_OK(last_->status);
    }
    last_ = First();
    if (last_ == nullptr) return nullptr;
    last_->key.reset();
    BRAID_TRY(const bool more, last_->plan->NextPeeked(context, row));
    if (more) return last_->plan;
    last_->ended = true;
  }
}

Gather::Gather(std::vector<std::unique_ptr<ShardPlan>>& shards, Order order)
    : sorted_(order != Order::kNone), rows_wanted_(kRowsFirst) {
  BRAID_ASSERT(!shards.empty());
  if (order == Order::kIndex || order == Order::kIndexBackward) {
    by_key_ = std::make_unique<KeyMerge>(shards, order == Order::kIndexBackward);
  }
  sources_.reserve(shards.size());
  for (auto& shard : shards) sources_.push_back({.plan = shard.get()});
}

bool Gather::NeedsRound() const {
  if (sorted_) return std::ranges::any_of(sources_, [](const Source& s) { return s.rows.empty() && !s.ended; });
  return std::ranges::all_of(sources_, [](const Source& s) { return s.rows.empty(); }) &&
         std::ranges::any_of(sources_, [](const Source& s) { return !s.ended; });
}

void Gather::Fill(txn::Context& context, Source& source) const {
  BRAID_ASSERT(!source.ended);
  size_t bytes = 0;
  Row row;
  while (source.rows.size() < rows_wanted_ && bytes < kBytesMax) {
    const Result<bool> more = source.plan->Next(context, &row);
    if (!more.ok()) source.status = more.error();
    if (!more.ok() || !*more) {
      source.ended = true;
      return;
    }
    source.rows.push_back({std::string(row.sort_key), std::string(row.document.bytes())});
    bytes += row.document.size();
    source.bytes += row.sort_key.size() + row.document.size();
  }
}

Status Gather::Round(txn::Context& context) {
  std::vector<Source*> low;
  for (Source& source : sources_) {
    if (!source.ended && source.rows.size() < rows_wanted_ / 2) low.push_back(&source);
  }
  pulls_.Run(context, low.size(), [&](size_t i, bool /*alone*/) {
    Fill(context, *low[i]);
    return sorted_ || low[i]->rows.empty();
  });
  rows_wanted_ = std::min(rows_wanted_ * 2, kRowsMax);
  for (const Source* source : low) BRAID_CHECK_OK(source->status);
  size_t held = 0;
  for (const Source& source : sources_) held += source.bytes;
  if (held > kUnchargedMax) return charge_.Set(context.shared().memory, held);
  charge_.Release();
  return {};
}

Gather::Source* Gather::First() {
  Source* first = nullptr;
  for (Source& source : sources_) {
    if (source.rows.empty()) continue;
    if (!sorted_) return &source;
    if (first == nullptr || source.rows.front().sort_key < first->rows.front().sort_key) first = &source;
  }
  return first;
}

Result<bool> Gather::NextByKey(txn::Context& context, bson::View* document) {
  Row row;
  BRAID_TRY(const ShardPlan* const from, by_key_->Next(context, &row));
  if (from == nullptr) return false;
  shard_ = from->shard();
  *document = row.document;
  ++given_by_key_;
  return true;
}

Result<bool> Gather::Next(txn::Context& context, bson::View* document) {
  if (by_key_ != nullptr && given_by_key_ < kRowsByKey) return NextByKey(context, document);
  by_key_.reset();
  while (NeedsRound()) BRAID_CHECK_OK(Round(context));
  Source* source = First();
  if (source == nullptr) return false;
  current_ = std::move(source->rows.front());
  source->rows.pop_front();
  const size_t taken = current_.sort_key.size() + current_.document.size();
  BRAID_ASSERT(source->bytes >= taken);
  source->bytes -= taken;
  shard_ = source->plan->shard();
  *document = bson::View(current_.document);
  return true;
}

}  // namespace braid::query::plan
