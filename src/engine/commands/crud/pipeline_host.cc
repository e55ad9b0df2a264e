#include "engine/commands/crud/pipeline_host.h"

#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/shared/current_operations.h"
#include "engine/commands/shared/sizes.h"
#include "engine/commands/shared/statements.h"
#include "engine/exec/plan/stage.h"
#include "engine/txn/index_build.h"

namespace braid::commands {
namespace {

class Host final : public query::PipelineHost {
 public:
  Host(EngineParts& engine, catalog::Namespace ns, bool bypass_validation)
      : engine_(engine), ns_(std::move(ns)), options_{.bypass_validation = bypass_validation} {}
  ~Host() override {
    if (staged_)
      engine_.catalog->Drop(staging_).Ignore("an $out that failed: its staging collection is dropped at best effort");
  }

  Result<std::vector<bson::Document>> Report(txn::Context& context, std::string_view stage,
                                             bson::View specification) override {
    if (stage == "$currentOp") {
      const bson::Value cursors = specification.Find("idleCursors");
      const bson::Value sessions = specification.Find("idleSessions");
      return CurrentOperations(
          engine_, {.cursors = bson::IsTruthy(cursors), .sessions = sessions.missing() || bson::IsTruthy(sessions)});
    }
    if (stage == "$listLocalSessions" || stage == "$listSessions") return SessionRows();
    if (stage == "$collStats") return CollectionStats(context, specification);
    if (stage == "$indexStats") return IndexStats();
    if (stage == "$listSampledQueries") {
      const bson::Value ns = specification.Find("namespace");
      return engine_.query_sampler.List(ns.missing() ? "" : ns.AsString());
    }
    if (stage == "$shardedDataDistribution") return ShardedDataDistribution();
    return Status(Code::kInternalError, StrCat("no report for the stage ", stage));
  }

  // The result is collected in a staging collection with the target's options and indexes, which replaces the target at
  // the end in one step.
  Status BeginOut(txn::Context& context, const catalog::Namespace& target) override {
    target_ = target;
    staging_ = catalog::Catalog::NewStaging(target.database);
    const catalog::CollectionPtr existing = engine_.catalog->Find(target);
    if (existing != nullptr && existing->sharded()) {
      return {Location(17017), StrCat("namespace '", target.ToString(), "' is sharded so it can't be used for $out")};
    }
    replaced_ = existing;
    BRAID_CHECK_OK(engine_.catalog->Create(staging_, existing == nullptr ? bson::View() : existing->options.view()));
    staged_ = true;
    if (existing == nullptr) return {};
    std::vector<catalog::IndexSpec> specs;
    for (const auto& index : existing->indexes) {
      if (!index->spec.is_id() && !index->building) specs.push_back(index->spec);
    }
    if (!specs.empty()) BRAID_CHECK_OK(txn::BuildIndexes(context, staging_, specs));
    return {};
  }

  Status AddOut(txn::Context& context, bson::View document) override {
    Call call = CallFor(context);
    Status problem;
    const auto failed = [&](size_t, const Status& status) {
      problem = status;
      return false;
    };
    BRAID_CHECK_OK(InsertDocuments(call, staging_, std::span(&document, 1), options_, failed));
    return problem;
  }

  Status FinishOut(txn::Context& context) override {
    BRAID_TRY(catalog::Catalog::Change change,
              engine_.catalog->TakePlace(staging_, target_, replaced_, &context.operation()));
    staged_ = false;
    context.NotePosition(change.position);
    return {};
  }

  Status Merge(txn::Context& context, bson::View document, bson::View specification) override {
    if (!merge_checked_) {
      BRAID_TRY(target_, MergeTarget(specification.Find("into"), ns_.database));
      BRAID_CHECK_OK(CheckMergeKey(*engine_.catalog, target_, specification));
      merge_checked_ = true;
    }
    Call call = CallFor(context);
    return MergeDocument(call, target_, document, specification, options_);
  }

 private:
  Call CallFor(txn::Context& context) { return Call{engine_, client_, request_, context, {}, {}}; }

  std::vector<bson::Document> SessionRows() const {
    std::vector<bson::Document> rows;
    engine_.sessions.ForEach([&](std::string_view lsid, int64_t last_use) {
      bson::Builder row;
      row.OpenObject("_id").Append("id", bson::Binary{4, lsid}).Close().Append("lastUse", bson::Date{last_use});
      rows.push_back(row.Finish());
    });
    return rows;
  }

  Result<std::vector<bson::Document>> CollectionStats(txn::Context& context, bson::View specification) const {
    const catalog::CollectionPtr collection = FindReadable(engine_, ns_);
    if (collection == nullptr) {
      return Status(Code::kNamespaceNotFound, StrCat("Collection [", ns_.ToString(), "] not found."));
    }
    std::vector<bson::Document> rows;
    for (const storage::ShardNumber shard : collection->placement->Shards()) {
      bson::Builder row;
      row.Append("ns", ns_.ToString()).Append("shard", ShardName(engine_, shard));
      row.Append("host", engine_.options.advertised_host).Append("localTime", bson::Date{context.now_millis()});
      if (const bson::Value wanted = specification.Find("storageStats"); !wanted.missing()) {
        double scale = 1;
        if (const bson::Value given = wanted.AsView().Find("scale"); given.IsNumber())
          scale = bson::Number::Of(given).ToDouble();
        BRAID_TRY(const bson::Document stats, StorageStatsOfShard(engine_, *collection, shard, scale));
        row.Append("storageStats", stats);
      }
      if (specification.Has("count")) {
        BRAID_TRY(const ShardFigures figures, FiguresOnShard(engine_, *collection, shard));
        row.Append("count", figures.documents);
      }
      rows.push_back(row.Finish());
    }
    return rows;
  }

  // Each document is on exactly one shard: a moving chunk counts on both shards with the documents that each has.
  Result<std::vector<bson::Document>> ShardedDataDistribution() const {
    const catalog::Cluster cluster = engine_.catalog->cluster();
    std::vector<bson::Document> rows;
    for (const catalog::CollectionPtr& collection : engine_.catalog->All()) {
      if (!collection->sharded()) continue;
      bson::Builder row;
      row.Append("ns", collection->ns.ToString()).OpenArray("shards");
      for (const storage::ShardNumber shard : collection->placement->Shards()) {
        BRAID_TRY(const ShardFigures figures, FiguresOnShard(engine_, *collection, shard));
        row.OpenNextObject().Append("shardName", cluster.NameOf(shard)).Append("numOrphanedDocs", 0);
        query::plan::AppendNumber(row, "numOwnedDocuments", static_cast<uint64_t>(figures.documents));
        query::plan::AppendNumber(row, "ownedSizeBytes", static_cast<uint64_t>(figures.bytes));
        row.Append("orphanedSizeBytes", 0).Close();
      }
      rows.push_back(row.Close().Finish());
    }
    return rows;
  }

  Result<std::vector<bson::Document>> IndexStats() const {
    std::vector<bson::Document> rows;
    const catalog::CollectionPtr collection = FindReadable(engine_, ns_);
    if (collection == nullptr) return rows;
    for (const auto& index : collection->indexes) {
      bson::Builder row;
      row.Append("name", index->spec.name)
          .Append("key", index->spec.key_pattern)
          .Append("host", engine_.options.advertised_host);
      row.Append("shard", PrimaryShard(engine_, *collection)).OpenObject("accesses").Append("ops", index->uses.load());
      row.Append("since", bson::Date{engine_.started_millis}).Close().Append("spec", index->spec.ToBson());
      rows.push_back(row.Finish());
    }
    return rows;
  }

  EngineParts& engine_;
  const catalog::Namespace ns_;
  const txn::WriteOptions options_;
  catalog::Namespace target_;
  catalog::Namespace staging_;
  catalog::CollectionPtr replaced_;  // the target as it was when $out began; null: there was none
  bool staged_ = false;              // the staging collection exists
  bool merge_checked_ = false;
  Client client_;
  Request request_;
};

}  // namespace

std::shared_ptr<query::PipelineHost> MakePipelineHost(EngineParts& engine, catalog::Namespace ns,
                                                      bool bypass_validation) {
  return std::make_shared<Host>(engine, std::move(ns), bypass_validation);
}

}  // namespace braid::commands
