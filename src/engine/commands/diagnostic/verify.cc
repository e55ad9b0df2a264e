// braidVerify: reads everything that the store holds and says what is damaged, for `braid verify`. A cursor, so that
// a client sees how far it is and can end it:
//
//   {store, process, tables, bytes, collections}            once: how much follows
//   {table: name, bytes, errors}                            after each table file, with every checksum
//   {collection: ns, documents, bytes, keys, errors}        after each collection: documents against indexes, both ways
//   {keys, errors}                                          what belongs to no collection
//   {end: true}
//
// Damage is reported as a row and does not end the stream, so that all damage is found.
#include <algorithm>

#include "base/strings.h"
#include "base/work.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/batch.h"
#include "engine/commands/table.h"
#include "engine/storage/store_files.h"
#include "engine/txn/validate.h"

namespace braid::commands {
namespace {

void AppendErrors(bson::Builder& row, const std::vector<std::string>& errors) {
  row.OpenArray("errors");
  for (const std::string& error : errors) row.AppendNext(error);
  row.Close();
}

class VerifyStream final : public query::Stream {
 public:
  VerifyStream(EngineParts& engine, std::unique_ptr<storage::StoreFiles> tables)
      : engine_(engine), tables_(std::move(tables)) {
    for (const catalog::CollectionPtr& collection : engine.catalog->All()) namespaces_.push_back(collection->ns);
    std::ranges::sort(namespaces_);
  }

  Result<bool> Next(txn::Context& context, bson::View* document) override {
    BRAID_CHECK_OK(Work::Current().Check());
    bson::Builder row;
    switch (step_) {
      case Step::kHead:
        row.Append("store", tables_->identity());
        row.Append("process", Hex({engine_.process_id.bytes, sizeof(engine_.process_id.bytes)}));
        row.Append("tables", static_cast<int64_t>(tables_->files().size()));
        row.Append("bytes", tables_->bytes()).Append("collections", static_cast<int64_t>(namespaces_.size()));
        step_ = Step::kTables;
        break;
      case Step::kTables:
        if (next_ < tables_->files().size()) {
          BRAID_CHECK_OK(CheckTable(tables_->files()[next_++], row));
          break;
        }
        next_ = 0;
        tables_.reset();
        step_ = Step::kCollections;
        [[fallthrough]];
      case Step::kCollections:
        if (next_ < namespaces_.size()) {
          BRAID_CHECK_OK(CheckCollection(context, namespaces_[next_++], row));
          break;
        }
        BRAID_CHECK_OK(CheckRest(context, row));
        step_ = Step::kEnd;
        break;
      case Step::kEnd:
        row.Append("end", true);
        step_ = Step::kOver;
        break;
      case Step::kOver: return false;
    }
    document_ = row.Finish();
    *document = document_;
    return true;
  }

 private:
  enum class Step { kHead, kTables, kCollections, kEnd, kOver };

  /// Appends the findings of a check as a row's errors; a request that has to stop ends the stream instead.
  static Status NoteFailure(const Status& failure, std::vector<std::string>* errors) {
    BRAID_CHECK_OK(Work::Current().Check());
    errors->emplace_back(failure.message());
    return {};
  }

  Status CheckTable(const storage::StoreFile& table, bson::Builder& row) {
    std::vector<std::string> errors;
    if (const Status checked = tables_->CheckBlocks(table); !checked.ok()) {
      BRAID_CHECK_OK(NoteFailure(checked, &errors));
    }
    row.Append("table", table.name).Append("bytes", table.size);
    AppendErrors(row, errors);
    return {};
  }

  /// The description must match the snapshot. If it was replaced meanwhile, differences may be due to that.
  Status CheckCollection(txn::Context& context, const catalog::Namespace& ns, bson::Builder& row) {
    constexpr int kTriesMax = 5;
    txn::ValidationReport report;
    for (int i = 1; i <= kTriesMax; ++i) {
      const catalog::CollectionPtr collection = engine_.catalog->Find(ns);
      if (collection == nullptr) {
        report = {};  // dropped since
        break;
      }
      context.UseSnapshot(engine_.store->TakeSnapshot());
      auto checked = txn::ValidateCollection(context, *collection);
      if (checked.ok()) {
        report = *std::move(checked);
      } else {
        report = {};
        BRAID_CHECK_OK(NoteFailure(checked.error(), &report.errors));
      }
      if (report.errors.empty() || engine_.catalog->Find(ns) == collection) break;
    }
    uint64_t keys = 0;
    for (const auto& index : report.indexes) keys += index.keys;
    row.Append("collection", ns.ToString()).Append("documents", report.documents).Append("bytes", report.bytes);
    row.Append("keys", keys);
    AppendErrors(row, report.errors);
    return {};
  }

  /// Collections that come or go while the snapshot is taken are in one of the two lists.
  Status CheckRest(txn::Context& context, bson::Builder& row) {
    std::set<uint32_t> numbers = txn::NumbersInUse(*engine_.catalog);
    context.UseSnapshot(engine_.store->TakeSnapshot());
    numbers.merge(txn::NumbersInUse(*engine_.catalog));
    txn::StrayKeysReport report;
    if (auto checked = txn::CheckStrayKeys(context, numbers); checked.ok()) {
      report = *std::move(checked);
    } else {
      BRAID_CHECK_OK(NoteFailure(checked.error(), &report.errors));
    }
    row.Append("keys", report.keys);
    AppendErrors(row, report.errors);
    return {};
  }

  EngineParts& engine_;
  std::unique_ptr<storage::StoreFiles> tables_;
  std::vector<catalog::Namespace> namespaces_;
  Step step_ = Step::kHead;
  size_t next_ = 0;
  bson::Document document_;
};

Result<bson::Document> RunBraidVerify(Call& call) {
  std::optional<bson::View> cursor_option;
  ArgReader reader(call.request);
  reader.Ignore({"braidVerify"});
  reader.Optional("cursor", cursor_option);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(const int64_t batch_size, BatchSizeOf(cursor_option));
  BRAID_TRY(auto tables, call.engine.store->PinFiles(storage::Store::Pin::kTables));
  auto cursor = std::make_unique<OpenCursor>();
  cursor->ns = {std::string(call.request.database), "$cmd.braidVerify"};
  cursor->command = "braidVerify";
  cursor->connection = call.client.id;
  call.client.bound_cursors = true;
  cursor->stream = std::make_unique<VerifyStream>(call.engine, std::move(tables));
  return FirstBatch(call, std::move(cursor), {.documents_max = batch_size});
}

}  // namespace

constinit const Command kBraidVerify = {.name = "braidVerify",
                                        .flags = kReadOnly | kAdminOnly | kGivesWay,
                                        .help = "Reads everything and streams reports of damage, for braid verify.",
                                        .run = RunBraidVerify};
}  // namespace braid::commands
