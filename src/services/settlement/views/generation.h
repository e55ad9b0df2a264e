// Generations: the present collection of a view, and the one that is being built to replace it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "braid/transaction.h"
#include "services/settlement/views/views.h"

namespace braid::settlement::views {

/// The view's own document in settlement_views.
struct Generation {
  int64_t number = 0;
  std::string collection;         // readers find the view here
  int64_t last = 0;               // the highest number ever given; none is given twice
  int64_t building = 0;           // 0: none
  std::string next;               // the collection that is filled meanwhile
  std::string moving;             // the one that is to be renamed to `collection`; empty: none
  std::vector<std::string> dead;  // collections that are to be dropped
  bool has_times = false;         // rows have the time of their output; those of an earlier version have not
  std::string stuck;              // why no further record could be applied; empty if none failed
};

/// A new, unique name for a collection that a view is built in, such as "balances_g2_65f0…".
std::string NewCollectionName(View view, int64_t generation);

/// Nothing if the view was never opened.
Result<std::optional<Generation>> FindGeneration(Transaction& transaction, View view);
/// kNamespaceNotFound if it was never opened.
Result<Generation> GetGeneration(Transaction& transaction, View view);
Result<Generation> LoadGeneration(Clients& clients, const std::string& database, View view);
/// `is_new`: there is no document yet.
Status StoreGeneration(Transaction& transaction, View view, const Generation& generation, bool is_new);

/// The collection with its indexes; OK if it is there.
Status CreateCollection(Clients& clients, const std::string& database, View view, const std::string& collection);

/// Makes sure that the view has a first generation.
Status CreateView(Clients& clients, const std::string& database, View view);

/// Renames a collection that was built to that of its view, if that is still to be done.
Status FinishMove(Clients& clients, const std::string& database, View view);

/// Drops the collections that the view's document lists as dead.
Status DropDead(Clients& clients, const std::string& database, View view);

}  // namespace braid::settlement::views
