// Reading and changing collections directly, for tests.
#pragma once

#include <string>
#include <vector>

#include "base/strings.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"
#include "services/schema/schema.h"

namespace braid::schema {

/// Runs a command given as JSON.
inline Result<client::BsonPtr> RunJson(test::TestStore& store, const std::string& command,
                                       const char* database = nullptr) {
  BRAID_TRY(const client::BsonPtr parsed, client::ParseJson(command));
  return client::RunCommand(store.clients().Acquire().get(), database == nullptr ? store.database().c_str() : database,
                            parsed.get());
}

/// Inserts a document given as JSON; the error of the write, if it was refused.
inline Status InsertJson(test::TestStore& store, const std::string& collection, const std::string& document) {
  BRAID_TRY(const client::BsonPtr parsed, client::ParseJson(document));
  const Client client = store.clients().Acquire();
  const auto target = client::CollectionOf(client.get(), store.database(), collection);
  bson_error_t error{};
  return mongoc_collection_insert_one(target.get(), parsed.get(), nullptr, nullptr, &error) ? Status()
                                                                                            : client::FromError(error);
}

/// "collection field" of every finding with the state.
inline std::vector<std::string> Things(const Report& report, State state) {
  std::vector<std::string> things;
  for (const Finding& finding : report.findings) {
    if (finding.state == state) things.push_back(StrCat(finding.collection, " ", finding.field));
  }
  return things;
}

/// "collection field: expected | found" of every finding that differs.
inline std::vector<std::string> Differing(const Report& report) {
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) {
    if (finding.state != State::kDifferent) continue;
    lines.push_back(StrCat(finding.collection, " ", finding.field, ": ", finding.expected, " | ", finding.found));
  }
  return lines;
}

}  // namespace braid::schema
