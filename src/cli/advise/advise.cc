#include "cli/advise/advise.h"

#include "base/strings.h"
#include "cli/advise/candidates.h"

namespace braid::advise {

Result<Advice> AdviseCollection(Clients& clients, const Place& place, size_t sample, size_t shards,
                                const std::atomic<bool>& stop) {
  BRAID_TRY(const Sample documents, FetchSample(clients, place, sample, stop));
  if (documents.documents.empty()) {
    return Status(Code::kNamespaceNotFound,
                  StrCat("there are no documents in ", place.database, ".", place.collection, " to rate keys by"));
  }
  Advice advice{.database = place.database, .collection = place.collection, .shards = shards};
  advice.documents_from = "collection";
  advice.operations_from = "none";
  advice.sampled = documents.documents.size();
  advice.total = documents.total;
  BRAID_TRY(advice.unique_indexes, FetchUniqueIndexes(clients, place));
  std::vector<Operation> operations;
  // A server that does not record operations is not an error.
  if (auto recorded = FetchOperations(clients, place); recorded.ok()) operations = *std::move(recorded);
  if (!operations.empty()) advice.operations_from = "server";
  advice.operations = operations.size();
  const auto workload = Workload::Of(std::move(operations));
  advice.weight = workload.weight();
  const auto order = FindInsertionOrder(documents);
  if (order) advice.insertion_order = order->by;
  const std::vector<ShardKey> keys = FindCandidates(documents, workload, shards);
  advice.ratings = RateAll(documents, order ? &*order : nullptr, workload, keys, shards);
  return advice;
}

}  // namespace braid::advise
