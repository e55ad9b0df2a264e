// AdviseCollection: the advice of `braid shards advise` for a collection, for any caller with clients of its store.
#pragma once

#include <atomic>

#include "braid/clients.h"
#include "cli/advise/advice.h"
#include "cli/advise/source.h"

namespace braid::advise {

/// Rates the keys that the documents suggest, and the operations if the server has recorded any. Looks at `sample`
/// documents at most. kNamespaceNotFound if the collection has none.
Result<Advice> AdviseCollection(Clients& clients, const Place& place, size_t sample, size_t shards,
                                const std::atomic<bool>& stop);

}  // namespace braid::advise
