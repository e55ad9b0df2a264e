// Shared by commands of several folders: environment, hint, namespaces, errors of statements, a notice.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/exec/plan/plan.h"

namespace braid::commands {

/// The command's collation (the collection's default if it names none), its `let` and its time.
Result<std::shared_ptr<const query::Environment>> MakeEnvironment(Call& call, const catalog::CollectionPtr& collection,
                                                                  const std::optional<bson::View>& collation,
                                                                  const std::optional<bson::View>& let);
/// A hint is an index's name or its key pattern.
Status ReadHint(const bson::Value& hint, query::Query* query);

/// "db.collection" as one string; kInvalidNamespace.
Result<catalog::Namespace> ParseFullName(std::string_view name);
/// The collection to read from; null if there is none.
Result<catalog::CollectionPtr> FindForRead(Call& call, const catalog::Namespace& ns);
/// {$natural: ±1} is a hint, everything else a pattern.
Result<query::SortPattern> ParseSortOrNatural(bson::View sort, query::Query& query);

/// {code, errmsg, …details}: one entry of writeErrors.
void AppendWriteError(bson::Builder& array, int32_t index, const Status& status);

/// The number of statements of a write batch: 1 … 100000, else kInvalidLength.
Status CheckBatchSize(size_t statements);

/// The notice about unique indexes that MongoDB would refuse on a sharded collection. Empty if there is no such index.
std::string UniqueNote(const catalog::Collection& collection);

}  // namespace braid::commands
