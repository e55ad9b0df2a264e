#include "cli/transfer/importer.h"

#include <deque>
#include <thread>

#include "base/mutex.h"
#include "base/strings.h"
#include "client/handles.h"

namespace braid::transfer {
namespace {

constexpr size_t kBatchBytes = size_t{16} << 20;  // a batch is sent at this size whatever its number of documents
constexpr size_t kDocumentMax = size_t{16} << 20;

// Batches on their way from the reader to the workers; bounded, so that a fast file does not fill the memory.
class Queue {
 public:
  explicit Queue(size_t batches_max) : batches_max_(batches_max) {}
  /// False if no worker will take it any more.
  bool Push(Batch batch) {
    MutexLock lock(mu_);
    changed_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return batches_.size() < batches_max_ || ended_; });
    if (ended_) return false;
    batches_.push_back(std::move(batch));
    changed_.NotifyAll();
    return true;
  }
  /// Nothing when there will be no more.
  std::optional<Batch> Pop() {
    MutexLock lock(mu_);
    changed_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return !batches_.empty() || closed_ || ended_; });
    if (ended_ || batches_.empty()) return std::nullopt;
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.NotifyAll();
    return batch;
  }
  /// What is queued is still taken.
  void Close() {
    const MutexLock lock(mu_);
    closed_ = true;
    changed_.NotifyAll();
  }
  /// What is queued is dropped.
  void End() {
    const MutexLock lock(mu_);
    ended_ = true;
    changed_.NotifyAll();
  }

 private:
  const size_t batches_max_;
  Mutex mu_;
  CondVar changed_;
  std::deque<Batch> batches_ BRAID_GUARDED_BY(mu_);
  bool closed_ BRAID_GUARDED_BY(mu_) = false;
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
};

class Importer {
 public:
  Importer(Clients& clients, const ImportOptions& options, ImportCounts& counts)
      : clients_(clients), options_(options), counts_(counts), queue_(static_cast<size_t>(WorkerCount()) * 2) {}

  Status Run(Reader& reader) {
    if (!options_.write_concern.empty()) {
      BRAID_TRY(concern_, ParseWriteConcern(options_.write_concern));
    }
    std::vector<std::thread> workers;
    workers.reserve(static_cast<size_t>(WorkerCount()));
    for (int i = 0; i < WorkerCount(); ++i) workers.emplace_back([this] { Work(); });
    Status read = Read(reader);
    queue_.Close();
    for (std::thread& worker : workers) worker.join();
    const MutexLock lock(mu_);
    return failure_.ok() ? read : failure_;
  }

 private:
  int WorkerCount() const { return options_.keep_order ? 1 : options_.workers; }
  bool EndsAtFailure() const { return options_.stop_on_error || options_.keep_order; }

  void Fail(uint64_t line, std::string_view reason) {
    ++counts_.failed;
    if (options_.on_failure) options_.on_failure(line, reason);
  }

  // Whether to go on.
  bool Refuse(const Item& item) {
    Fail(item.line, item.error.message());
    return !EndsAtFailure();
  }

  Status Read(Reader& reader) {
    Batch batch;
    while (options_.stop == nullptr || !options_.stop->load()) {
      auto next = reader.Next();
      if (!next.ok() || !next->has_value()) {  // what was read before an error is imported all the same
        if (!batch.items.empty()) queue_.Push(std::move(batch));
        return next.status();
      }
      Item item = **std::move(next);
      if (item.error.ok() && item.document->len > kDocumentMax) {
        item.error = Status(Code::kBSONObjectTooLarge, StrCat("the document has ", item.document->len,
                                                              " bytes; a server accepts at most 16777216"));
      }
      if (!item.error.ok()) {
        if (Refuse(item)) continue;
        if (!batch.items.empty()) queue_.Push(std::move(batch));
        return {};
      }
      batch.bytes += item.document->len;
      batch.items.push_back(std::move(item));
      if (batch.items.size() < static_cast<size_t>(options_.batch_size) && batch.bytes < kBatchBytes) continue;
      if (!queue_.Push(std::move(batch))) return {};
      batch = Batch();
    }
    if (!batch.items.empty()) queue_.Push(std::move(batch));
    return {};
  }

  void Work() {
    const Client client = clients_.Acquire();
    const client::CollectionPtr collection = client::CollectionOf(client.get(), options_.database, options_.collection);
    if (concern_ != nullptr) mongoc_collection_set_write_concern(collection.get(), concern_.get());
    while (const std::optional<Batch> batch = queue_.Pop()) {
      BatchOutcome outcome = SendBatch(collection.get(), *batch, options_);
      counts_.imported += outcome.done;
      for (const auto& [index, reason] : outcome.failures) Fail(batch->items[index].line, reason);
      if (!outcome.fatal.ok()) return Abort(outcome.fatal, *batch);
      if (!outcome.failures.empty() && EndsAtFailure()) queue_.End();
    }
  }

  void Abort(const Status& status, const Batch& batch) {
    queue_.End();
    const MutexLock lock(mu_);
    if (!failure_.ok()) return;
    failure_ = Status(status.code(), StrCat("lines ", batch.items.front().line, " to ", batch.items.back().line, ": ",
                                            status.message()));
  }

  Clients& clients_;
  const ImportOptions& options_;
  ImportCounts& counts_;
  client::WriteConcernPtr concern_;
  Queue queue_;
  Mutex mu_;
  Status failure_ BRAID_GUARDED_BY(mu_);
};

}  // namespace

Status Import(Clients& clients, Reader& reader, const ImportOptions& options, ImportCounts& counts) {
  return Importer(clients, options, counts).Run(reader);
}

Result<client::WriteConcernPtr> ParseWriteConcern(const std::string& text) {
  client::WriteConcernPtr concern(mongoc_write_concern_new());
  if (text == "majority") {
    mongoc_write_concern_set_w(concern.get(), MONGOC_WRITE_CONCERN_W_MAJORITY);
    return concern;
  }
  if (!text.empty() && text.size() <= 2 && text.find_first_not_of("0123456789") == std::string::npos) {
    mongoc_write_concern_set_w(concern.get(), std::stoi(text));
    return concern;
  }
  const auto parsed = client::ParseJson(text);
  if (!parsed.ok()) {
    return Status(Code::kBadValue,
                  "--writeConcern takes majority, a number, or a document such as {\"w\": 1, \"j\": true}");
  }
  bson_iter_t field;
  if (!bson_iter_init(&field, parsed->get())) return concern;
  while (bson_iter_next(&field)) {
    const std::string_view key = bson_iter_key(&field);
    if (key == "w" && BSON_ITER_HOLDS_UTF8(&field)) {
      mongoc_write_concern_set_wtag(concern.get(), bson_iter_utf8(&field, nullptr));
    } else if (key == "w" && BSON_ITER_HOLDS_NUMBER(&field)) {
      mongoc_write_concern_set_w(concern.get(), static_cast<int32_t>(bson_iter_as_int64(&field)));
    } else if (key == "j" || key == "journal") {
      mongoc_write_concern_set_journal(concern.get(), bson_iter_as_bool(&field));
    } else if (key == "wtimeout" && BSON_ITER_HOLDS_NUMBER(&field)) {
      mongoc_write_concern_set_wtimeout_int64(concern.get(), bson_iter_as_int64(&field));
    } else {
      return Status(Code::kBadValue,
                    StrCat("--writeConcern: cannot use '", key, "'; the fields are w, j and wtimeout"));
    }
  }
  return concern;
}

}  // namespace braid::transfer
