// The rules for stored documents: size, depth, _id. Shared by updates, upserts and inserts.
#pragma once

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::update {

/// The fields of a DBRef, which may begin with '$' where others may not.
bool IsDbRefName(std::string_view name);

/// kOverflow if documents and arrays are nested deeper than bson::kDepthMax.
Status CheckDepth(bson::View document);

/// kInvalidIdField for an array, a regex or undefined; kDollarPrefixedFieldName for a $-field inside.
Status CheckId(const bson::Value& id);

/// kDollarPrefixedFieldName, kInvalidDBRef for the names of a DBRef, if the document has a top-level field that begins
/// with '$'. Below the top they are stored.
Status CheckDollarFields(bson::View document);

/// kImmutableField unless both are the same _id.
Status CheckSameId(const bson::Value& before, const bson::Value& after);

/// Location17419 if an updated document is too large, Location17420 if one to be upserted is.
Status CheckUpdatedSize(bson::View document);
Status CheckUpsertedSize(bson::View document);

/// The document with its _id in front; `id` stands in if there is none, a new ObjectId if that is missing as well.
bson::Document WithIdFirst(bson::Document document, const bson::Value& id);

/// Every zero timestamp at the top level, except in _id, replaced by `cluster_time`.
bson::Document FillTimestamps(bson::View document, uint64_t cluster_time);

}  // namespace braid::update
