// The same operations on bare RocksDB: the limit that disk and library set, without documents, indexes or a network.
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <sys/resource.h>

#include "base/strings.h"
#include "bench/bare_rocks.h"
#include "bench/target.h"
#include "client/handles.h"

namespace braid::bench {
namespace {

rocksdb::Slice Slice(std::string_view text) { return {text.data(), text.size()}; }

class BareSession final : public Session {
 public:
  BareSession(rocksdb::DB& db, bool durable) : db_(db) { write_.sync = durable; }

  Status Read(std::string_view key) override {
    value_.Reset();
    return FromRocks(db_.Get(rocksdb::ReadOptions(), db_.DefaultColumnFamily(), Slice(key), &value_));
  }

  // The value is a document: one field is changed in place and the whole is put.
  Status Update(std::string_view key, int field, const FieldValue& value) override {
    BRAID_CHECK_OK(Read(key));
    copy_.assign(value_.data(), value_.size());
    bson_t document;
    bson_iter_t iterator;
    const auto* bytes = reinterpret_cast<const uint8_t*>(copy_.data());
    if (!bson_init_static(&document, bytes, copy_.size()) ||
        !bson_iter_init_find(&iterator, &document, kFieldNames[field].data()) || !BSON_ITER_HOLDS_BINARY(&iterator)) {
      return Status(Code::kInternalError, StrCat("bare RocksDB: record ", key, " is not as it was written"));
    }
    const uint8_t* place = nullptr;
    uint32_t length = 0;
    bson_iter_binary(&iterator, nullptr, &length, &place);
    copy_.replace(static_cast<size_t>(place - bytes), length, value.view());
    return FromRocks(db_.Put(write_, Slice(key), copy_));
  }

  Status InsertBatch(const std::vector<Insert>& records) override {
    batch_.Clear();
    for (const Insert& insert : records) {
      document_.Clear();
      const Key key(insert.number);
      AppendRecord(document_.get(), key.view(), insert.record);
      const rocksdb::Slice bytes(reinterpret_cast<const char*>(bson_get_data(document_.get())), document_.get()->len);
      BRAID_CHECK_OK(FromRocks(batch_.Put(Slice(key.view()), bytes)));
    }
    return FromRocks(db_.Write(write_, &batch_));
  }

  Status Scan(std::string_view start, int count) override {
    const std::unique_ptr<rocksdb::Iterator> iterator(db_.NewIterator(rocksdb::ReadOptions()));
    for (iterator->Seek(Slice(start)); iterator->Valid() && count > 0; iterator->Next(), --count) {
      copy_.assign(iterator->value().data(), iterator->value().size());
    }
    return FromRocks(iterator->status());
  }

 private:
  rocksdb::DB& db_;
  rocksdb::WriteOptions write_;
  rocksdb::PinnableSlice value_;
  rocksdb::WriteBatch batch_;
  client::Bson document_;
  std::string copy_;
};

rocksdb::Options Options() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;  // random bytes: compressing them would only cost
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(256u << 20);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return options;
}

class Bare final : public Target {
 public:
  Bare(BareDirectory directory, bool durable) : directory_(std::move(directory)), durable_(durable) {}

  Result<std::unique_ptr<Session>> Connect() override { return std::make_unique<BareSession>(*db_, durable_); }

  Status Reset() override {
    db_.reset();
    BRAID_CHECK_OK(FromRocks(rocksdb::DestroyDB(directory_.path(), Options())));
    rocksdb::DB* db = nullptr;
    BRAID_CHECK_OK(FromRocks(rocksdb::DB::Open(Options(), directory_.path(), &db)));
    db_.reset(db);
    return {};
  }

  // The threads that run the workload are in this process too, and count.
  Result<Usage> ReadUsage() override {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto micros = [](const timeval& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; };
    return Usage{.cpu_micros = micros(usage.ru_utime) + micros(usage.ru_stime), .resident_mb = std::nullopt};
  }

 private:
  const BareDirectory directory_;  // removed after the database is closed
  const bool durable_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

Result<std::unique_ptr<Target>> OpenBare(const std::string& parent, bool durable) {
  BRAID_TRY(BareDirectory directory, BareDirectory::Make(parent));
  auto target = std::make_unique<Bare>(std::move(directory), durable);
  BRAID_CHECK_OK(target->Reset());
  return target;
}

}  // namespace braid::bench
