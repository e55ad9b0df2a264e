// braidBackup: the files of the store as a stream of documents. The client writes them: the server never writes to a
// path that a client names, and a client on another machine gets a backup in the same way.
//
// {braidBackup: 1, have: [{name, size, mark}, …], cursor: {batchSize}} makes a cursor with these documents:
//
//   {store, process, time, position, files, bytes} once: identity of store and process, moment, how much follows
//   {file: name, size, mark, table, have}          before each file; `have`: the client has it, no bytes follow
//   {data: bytes}                                  its bytes, in parts of up to 1 MiB
//   {end: true}                                    the last one: without it something is missing
//
// The cursor keeps the files from being removed. It ends with its connection, so that nothing is kept for a client that
// is gone.
#include <algorithm>
#include <map>

#include "base/strings.h"
#include "base/work.h"
#include "engine/bson/number.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/batch.h"
#include "engine/commands/table.h"
#include "engine/storage/store_files.h"

namespace braid::commands {
namespace {

constexpr size_t kPartBytes = 1 << 20;

/// Tables that the client has from an earlier backup, by name.
struct KnownTable {
  int64_t size = 0;
  int64_t mark = 0;
};
using KnownTables = std::map<std::string, KnownTable, std::less<>>;

class BackupStream final : public query::Stream {
 public:
  BackupStream(std::unique_ptr<storage::StoreFiles> files, KnownTables known, const Call& call)
      : files_(std::move(files)),
        known_(std::move(known)),
        process_(Hex({call.engine.process_id.bytes, sizeof(call.engine.process_id.bytes)})),
        now_millis_(call.context.now_millis()) {}

  Result<bool> Next(txn::Context& /*context*/, bson::View* document) override {
    BRAID_CHECK_OK(Work::Current().Check());
    if (!begun_) {
      begun_ = true;
      document_ = bson::Make("store", files_->identity(), "process", process_, "time", bson::Date{now_millis_},
                             "position", files_->position(), "files", static_cast<int64_t>(files_->files().size()),
                             "bytes", files_->bytes());
    } else if (file_ < files_->files().size()) {
      BRAID_CHECK_OK(NextOfFile());
    } else if (!ended_) {
      ended_ = true;
      document_ = bson::Make("end", true);
    } else {
      return false;
    }
    *document = document_;
    return true;
  }

 private:
  bool IsKnown(const storage::StoreFile& file) const {
    const auto known = known_.find(file.name);
    return file.table && known != known_.end() && known->second.size == static_cast<int64_t>(file.size) &&
           known->second.mark == static_cast<int64_t>(file.mark);
  }

  Status NextOfFile() {
    const storage::StoreFile& file = files_->files()[file_];
    if (!announced_) {
      const bool have = IsKnown(file);
      // A damaged table would be copied as it is, and the damage would only be noticed when the backup is needed.
      if (file.table && !have) BRAID_CHECK_OK(files_->CheckBlocks(file));
      document_ =
          bson::Make("file", file.name, "size", file.size, "mark", file.mark, "table", file.table, "have", have);
      announced_ = true;
      offset_ = have ? file.size : 0;
    } else {
      BRAID_CHECK_OK(files_->Read(file, offset_, std::min<uint64_t>(kPartBytes, file.size - offset_), &part_));
      document_ = bson::Make("data", bson::Binary{0, part_});
      offset_ += part_.size();
    }
    if (offset_ == file.size) {
      announced_ = false;
      ++file_;
    }
    return {};
  }

  const std::unique_ptr<storage::StoreFiles> files_;
  const KnownTables known_;
  const std::string process_;
  const int64_t now_millis_;
  bool begun_ = false;
  bool ended_ = false;
  size_t file_ = 0;         // the next one
  bool announced_ = false;  // it was, and its bytes from offset_ on follow
  uint64_t offset_ = 0;
  std::string part_;
  bson::Document document_;
};

Result<KnownTables> ReadKnown(const std::vector<bson::View>& have) {
  KnownTables known;
  for (const bson::View& table : have) {
    std::string_view name;
    KnownTable entry;
    ArgReader reader(table, "braidBackup.have");
    reader.Required("name", name);
    reader.Required("size", entry.size);
    reader.Required("mark", entry.mark);
    BRAID_CHECK_OK(reader.Finish());
    known.insert_or_assign(std::string(name), entry);
  }
  return known;
}

Result<bson::Document> RunBraidBackup(Call& call) {
  std::vector<bson::View> have;
  std::optional<bson::View> cursor_option;
  ArgReader reader(call.request);
  reader.Ignore({"braidBackup"});
  reader.Optional("have", have);
  reader.Optional("cursor", cursor_option);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(const int64_t batch_size, BatchSizeOf(cursor_option));
  BRAID_TRY(KnownTables known, ReadKnown(have));
  auto cursor = std::make_unique<OpenCursor>();
  BRAID_CHECK_OK(cursor->list_charge.Set(&call.engine.memory, 2 * kPartBytes + have.size() * 128));
  BRAID_TRY(auto files, call.engine.store->PinFiles(storage::Store::Pin::kWholeStore));
  cursor->ns = {std::string(call.request.database), "$cmd.braidBackup"};
  cursor->command = "braidBackup";
  cursor->connection = call.client.id;
  call.client.bound_cursors = true;
  cursor->stream = std::make_unique<BackupStream>(std::move(files), std::move(known), call);
  return FirstBatch(call, std::move(cursor), {.documents_max = batch_size});
}

}  // namespace

constinit const Command kBraidBackup = {.name = "braidBackup",
                                        .flags = kReadOnly | kAdminOnly | kGivesWay,
                                        .help = "Streams the files of the store, for braid backup.",
                                        .run = RunBraidBackup};
}  // namespace braid::commands
