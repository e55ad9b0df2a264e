// How far the views are: their floors beside the heads of the chains.
#include <algorithm>

#include "services/settlement/views/follow.h"

namespace braid::settlement {
namespace {

ViewProgress Compare(View view, const views::Generation& now, const views::Positions& floor,
                     std::span<const ChainHead> heads) {
  ViewProgress progress{.view = view, .collection = now.collection, .generation = now.number};
  for (const auto& [chain, position] : floor) {
    progress.applied_seq = std::max(progress.applied_seq, position.sequence);
    progress.records += position.records;
  }
  for (const ChainHead& head : heads) {
    const auto place = floor.find(head.chain);
    const views::Position position = place == floor.end() ? views::Position() : place->second;
    // The heads are older than the floor, which may have passed them.
    if (position.sequence < head.sequence) progress.behind += head.records - position.records;
  }
  return progress;
}

Result<std::vector<ViewProgress>> ReadAll(Clients& clients, const TransactionOptions& options,
                                          std::span<const ChainHead> heads) {
  std::vector<ViewProgress> all;
  BRAID_CHECK_OK(RunTransaction(clients, options, [&](Transaction& transaction) -> Status {
    all.clear();
    for (const View view : kViews) {
      BRAID_TRY(const auto now, views::FindGeneration(transaction, view));
      if (!now) continue;
      BRAID_TRY(const views::Marks marks, views::Marks::Load(transaction, now->collection, {}));
      all.push_back(Compare(view, *now, marks.floor(), heads));
    }
    return {};
  }));
  return all;
}

}  // namespace

Result<std::vector<ViewProgress>> ReadProgress(Clients& clients, const std::string& database,
                                               std::span<const ChainHead> heads) {
  return ReadAll(clients, {.database = database}, heads);
}

Result<std::vector<ViewProgress>> Views::Progress(std::span<const ChainHead> heads) {
  return ReadAll(parts_->clients, parts_->InTransaction(), heads);
}

}  // namespace braid::settlement
