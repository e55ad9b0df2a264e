// What the tests of this folder share: a sharded collection in a store, and queries over it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/strings.h"
#include "engine/balance/move.h"
#include "engine/balance/shard_collection.h"
#include "engine/exec/plan/plan.h"
#include "engine/txn/testing_fixture.h"

namespace braid::balance {

class BalanceTest : public txn::TxnTest {
 protected:
  /// A request of its own.
  struct Session {
    explicit Session(BalanceTest& test) : operation(test.operations_.Start()), context(*test.shared_, *operation) {}
    txn::Operations::Handle operation;
    txn::Context context;
  };

  void AddShards(size_t count) {
    ASSERT_OK(catalog_->ChangeCluster([count](catalog::Cluster* cluster) -> Status {
      for (size_t i = 0; i < count; ++i) {
        const std::string name = StrCat("shard", cluster->end);
        cluster->shards.push_back({.number = cluster->end++, .name = name});
      }
      return {};
    }));
  }
  Status Shard(std::string_view pattern, uint32_t chunks = 0) {
    ShardOptions options;
    BRAID_TRY(options.key, sharding::ShardKey::Parse(bson::J(pattern)));
    options.initial_chunks = chunks;
    Session session(*this);
    return ShardCollection(session.context, ns_, options);
  }
  sharding::PlacementPtr placement() { return Find()->placement; }

  /// `killed`: the move is begun, and interrupted before a document has moved.
  Result<uint64_t> MoveChunk(size_t chunk, storage::ShardNumber to, bool killed = false) {
    const sharding::PlacementPtr table = placement();
    Session session(*this);
    if (killed) session.operation->killed = static_cast<int>(Code::kInterrupted);
    return MoveRange(session.context, ns_, Find()->number, {table->chunks[chunk].min, table->MaxOf(chunk)}, to);
  }
  Result<uint64_t> Continue() {
    Session session(*this);
    return ContinueMoves(session.context, ns_, Find()->number);
  }
  Status Change(const std::function<Status(sharding::Placement*)>& change) {
    return catalog_
        ->Place(ns_, Find()->number, [&](sharding::Placement* table, storage::WriteSet&) { return change(table); })
        .status();
  }

  query::Query Ask(bson::View filter, std::string_view sort = "{}") {
    query::Query query;
    query.environment = std::make_shared<query::Environment>();
    query.collection = Find();
    query.filter = query::Filter::Parse(filter, query.environment).value();
    query.sort = query::SortPattern::Parse(bson::J(sort), nullptr).value();
    return query;
  }
  struct Row {
    bson::Document document;
    storage::ShardNumber shard;
  };
  static Result<std::vector<Row>> Read(txn::Context& context, query::Query query) {
    BRAID_TRY(const auto plan, query::Plan::Make(std::move(query)));
    std::vector<Row> rows;
    while (true) {
      bson::View document;
      BRAID_TRY(const bool more, plan->Next(context, &document));
      if (!more) return rows;
      rows.push_back({bson::Document(document), plan->shard()});
    }
  }
  Result<std::vector<Row>> Read(bson::View filter, std::string_view sort = "{}") {
    Session session(*this);
    return Read(session.context, Ask(filter, sort));
  }
  Result<int64_t> Count(bson::View filter) {
    Session session(*this);
    return query::Count(session.context, Ask(filter));
  }
  /// No one may write meanwhile.
  void ExpectValid() {
    Session session(*this);
    const auto report = txn::ValidateCollection(session.context, *Find());
    ASSERT_OK(report);
    for (const std::string& error : report->errors) ADD_FAILURE() << error;
  }
};

}  // namespace braid::balance
