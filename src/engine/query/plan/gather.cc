#include "engine/query/plan/gather.h"

#include <algorithm>
#include <chrono>

namespace braid::query::plan {
namespace {

constexpr size_t kRowsFirst = 16;
constexpr size_t kRowsMax = 1024;
constexpr size_t kBytesMax = 1u << 20;
/// Waking another thread costs about a tenth of this.
constexpr auto kLong = std::chrono::microseconds(100);

}  // namespace

Gather::Gather(std::vector<std::unique_ptr<ShardPlan>>& shards, bool sorted)
    : sorted_(sorted), rows_wanted_(kRowsFirst) {
  for (auto& shard : shards) sources_.push_back({.plan = shard.get()});
}

bool Gather::NeedsRound() const {
  if (sorted_) return std::ranges::any_of(sources_, [](const Source& s) { return s.rows.empty() && !s.ended; });
  return std::ranges::all_of(sources_, [](const Source& s) { return s.rows.empty(); }) &&
         std::ranges::any_of(sources_, [](const Source& s) { return !s.ended; });
}

void Gather::Fill(txn::Context& context, Source& source) const {
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
  }
}

Status Gather::Round(txn::Context& context) {
  std::vector<Source*> low;
  for (Source& source : sources_) {
    if (!source.ended && source.rows.size() < rows_wanted_ / 2) low.push_back(&source);
  }
  const auto started = std::chrono::steady_clock::now();
  size_t done = 0;
  while (done < low.size() && !slow_) {
    Fill(context, *low[done++]);
    slow_ = std::chrono::steady_clock::now() - started > kLong;
    if (!sorted_ && !low[done - 1]->rows.empty()) break;
  }
  Workers* workers = context.shared().workers;
  const bool enough = !sorted_ && done > 0 && !low[done - 1]->rows.empty();
  if (workers != nullptr && !enough && done < low.size()) {
    workers->Run(low.size() - done, [&](size_t i) { Fill(context, *low[done + i]); });
  } else if (!enough) {
    for (; done < low.size(); ++done) Fill(context, *low[done]);
  }
  rows_wanted_ = std::min(rows_wanted_ * 2, kRowsMax);
  for (const Source* source : low) BRAID_CHECK_OK(source->status);
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

Result<bool> Gather::Next(txn::Context& context, bson::View* document) {
  while (NeedsRound()) BRAID_CHECK_OK(Round(context));
  Source* source = First();
  if (source == nullptr) return false;
  current_ = std::move(source->rows.front());
  source->rows.pop_front();
  shard_ = source->plan->shard();
  *document = bson::View(current_.document);
  return true;
}

}  // namespace braid::query::plan
