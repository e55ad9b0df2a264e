// Apply and Compare on a store.
#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/schema/examine.h"

namespace braid::schema {
namespace {

using client::Bson;
using client::BsonPtr;

constexpr int kShardingAttempts = 600;  // of 50 ms

/// Makes one collection match its spec.
class Creator {
 public:
  Creator(mongoc_client_t* client, const StoreKind& kind, const std::string& database, const Wanted& wanted)
      : client_(client), kind_(kind), database_(database), wanted_(wanted) {}

  Result<std::vector<Finding>> Run() {
    BRAID_TRY(std::vector<Finding> findings, Look());
    const auto is_missing = [](const Finding& finding) { return finding.state == State::kMissing; };
    if (std::ranges::none_of(findings, is_missing)) return findings;
    std::set<std::string> missing;
    for (const Finding& finding : findings) {
      if (is_missing(finding)) missing.insert(finding.field);
    }
    BRAID_CHECK_OK(Create(missing));
    // The store's present state decides: another process may have created the same thing, or something else.
    BRAID_TRY(findings, Look());
    for (Finding& finding : findings) Settle(finding);
    return findings;
  }

 private:
  Result<std::vector<Finding>> Look() {
    BRAID_TRY(const Actual actual, ReadActual(client_, kind_, database_, wanted_.name));
    return Examine(wanted_, actual);
  }

  // The index of the shard key comes before the shard key, which comes before the other indexes: a MongoDB cluster
  // checks each against what is there.
  Status Create(const std::set<std::string>& missing) {
    if (missing.contains(kCollectionField)) {
      BRAID_CHECK_OK(CreateCollection());
    } else if (missing.contains(kValidatorField)) {
      BRAID_CHECK_OK(AddValidator());
    }
    for (const bool of_shard_key : {true, false}) {
      for (const WantedIndex& index : wanted_.indexes) {
        const bool matches = wanted_.shard_key != nullptr && bson_equal(index.keys.get(), wanted_.shard_key.get());
        if (matches != of_shard_key || !missing.contains(IndexField(index.name))) continue;
        BRAID_CHECK_OK(CreateIndex(index));
      }
      if (of_shard_key && missing.contains(kShardKeyField)) BRAID_CHECK_OK(Shard());
    }
    return {};
  }

  Status CreateCollection() {
    Bson command;
    command.Text("create", wanted_.name);
    if (wanted_.validator != nullptr) BSON_APPEND_DOCUMENT(command.get(), "validator", wanted_.validator.get());
    const auto reply = client::RunCommand(client_, database_.c_str(), command.get());
    if (!reply.ok()) return reply.error().code() == Code::kNamespaceExists ? Status() : reply.error();
    created_.insert(kCollectionField);
    created_.insert(kValidatorField);
    return {};
  }

  // A validator over documents that break it would refuse their next update, so it is added only if there are none.
  Status AddValidator() {
    BRAID_ASSERT(wanted_.validator != nullptr);  // otherwise no document can break it
    Bson alternatives;
    BSON_APPEND_DOCUMENT(alternatives.get(), "0", wanted_.validator.get());
    Bson breaking;
    breaking.Array("$nor", alternatives);
    Bson count;
    count.Text("count", wanted_.name).Document("query", breaking).Integer("limit", 1);
    BRAID_TRY(const BsonPtr counted, client::RunCommand(client_, database_.c_str(), count.get()));
    if (client::IntegerOf(counted.get(), "n") > 0) {
      refused_[kValidatorField] = "documents that are there already break it; correct them and run this again";
      return {};
    }
    Bson command;
    command.Text("collMod", wanted_.name);
    BSON_APPEND_DOCUMENT(command.get(), "validator", wanted_.validator.get());
    return Note(kValidatorField, client::RunCommand(client_, database_.c_str(), command.get()));
  }

  Status CreateIndex(const WantedIndex& index) {
    BRAID_ASSERT(index.definition != nullptr);
    Bson definitions;
    BSON_APPEND_DOCUMENT(definitions.get(), "0", index.definition.get());
    Bson command;
    command.Text("createIndexes", wanted_.name).Array("indexes", definitions);
    return Note(IndexField(index.name), client::RunCommand(client_, database_.c_str(), command.get()));
  }

  // Another process may be sharding the collection at this moment.
  Status Shard() {
    BRAID_ASSERT(wanted_.shard_key != nullptr);
    Bson enable;
    enable.Text("enableSharding", database_);
    BRAID_CHECK_OK(client::RunCommand(client_, "admin", enable.get()));
    Bson command;
    command.Text("shardCollection", StrCat(database_, ".", wanted_.name));
    BSON_APPEND_DOCUMENT(command.get(), "key", wanted_.shard_key.get());
    auto reply = client::RunCommand(client_, "admin", command.get());
    for (int i = 0; i < kShardingAttempts && reply.status().code() == Code::kConflictingOperationInProgress; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      reply = client::RunCommand(client_, "admin", command.get());
    }
    return Note(kShardKeyField, reply);
  }

  // A lost store or missing rights end the run; a refusal because of existing data is reported as a difference.
  Status Note(const std::string& field, const Result<BsonPtr>& reply) {
    if (reply.ok()) {
      created_.insert(field);
      return {};
    }
    if (IsRetryable(reply.error().code()) || reply.error().code() == Code::kUnauthorized) return reply.error();
    refused_[field] = reply.error().message();
    return {};
  }

  void Settle(Finding& finding) const {
    if (finding.state == State::kAsSpecified && created_.contains(finding.field)) finding.state = State::kCreated;
    if (finding.state != State::kMissing) return;
    finding.state = State::kDifferent;
    const auto why = refused_.find(finding.field);
    finding.note = why != refused_.end() ? why->second : "somebody removes it while it is being created";
  }

  mongoc_client_t* client_;
  const StoreKind& kind_;
  const std::string& database_;
  const Wanted& wanted_;
  std::set<std::string> created_;               // fields of findings
  std::map<std::string, std::string> refused_;  // field → what the store said
};

Result<Report> ForEachSpec(Clients& clients, const std::string& database, std::span<const CollectionSpec> specs,
                           bool change) {
  const Client client = clients.Acquire();
  BRAID_TRY(const StoreKind kind, AskKind(client.get()));
  Report report;
  const auto add = [&](std::vector<Finding> findings) {
    std::ranges::move(findings, std::back_inserter(report.findings));
  };
  for (const CollectionSpec& spec : specs) {
    BRAID_TRY(Wanted wanted, ReadSpec(spec));
    std::vector<Finding> skipped = Adapt(kind, wanted);
    if (change) {
      BRAID_TRY(std::vector<Finding> findings, Creator(client.get(), kind, database, wanted).Run());
      add(std::move(findings));
    } else {
      BRAID_TRY(const Actual actual, ReadActual(client.get(), kind, database, spec.name));
      add(Examine(wanted, actual));
    }
    add(std::move(skipped));
  }
  return report;
}

}  // namespace

size_t Report::Count(State state) const {
  return static_cast<size_t>(std::ranges::count(findings, state, &Finding::state));
}

Result<Report> Apply(Clients& clients, const std::string& database, std::span<const CollectionSpec> specs) {
  return ForEachSpec(clients, database, specs, true);
}

Result<Report> Compare(Clients& clients, const std::string& database, std::span<const CollectionSpec> specs) {
  return ForEachSpec(clients, database, specs, false);
}

}  // namespace braid::schema
