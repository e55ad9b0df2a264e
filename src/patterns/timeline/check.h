// CheckDocuments: whether the documents of an epoch are what its record says.
#pragma once

#include "braid/timeline.h"

namespace braid::timeline {

/// An epoch with its documents, as Verify() finds them.
struct StoredEpoch {
  bool has_before = true;  // the record of the epoch before is there, or this is the first
  const EpochDocuments& documents;
  std::string_view computed_before;  // the digest of the epoch before, computed from the documents
};

/// Tells every difference to `damage` and gives the digest, computed from the documents.
std::string CheckDocuments(const TimelineOptions& options, const StoredEpoch& epoch, const Timeline::OnDamage& damage);

}  // namespace braid::timeline
