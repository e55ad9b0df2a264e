// Receiving a backup: the server's stream of files into a target.
#include "cli/backup/target.h"

#include <optional>

#include "base/strings.h"
#include "cli/backup/files.h"
#include "cli/backup/reach.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::backup {
namespace {

constexpr int64_t kRowsAtOnce = 4;  // of up to 1 MiB

Status UnexpectedRow(std::string_view what) { return {Code::kProtocolError, StrCat("the server sent ", what)}; }

class Receiver {
 public:
  Receiver(const ReachedStore& store, Target& target, const std::atomic<bool>& stop, BackupFigures& figures)
      : store_(store), target_(target), stop_(stop), figures_(figures) {}

  Status Take(const bson_t* row) {
    BRAID_CHECK_OK(CheckStop(stop_));
    if (ended_) return UnexpectedRow("more than the end of the backup");
    if (bson_has_field(row, "store")) return Begin(row);
    if (bson_has_field(row, "file")) return StartFile(row);
    if (bson_has_field(row, "data")) return TakeData(client::BinaryOf(row, "data"));
    ended_ = client::BoolOf(row, "end") && !file_;
    return ended_ ? Status() : UnexpectedRow("something that is not part of a backup");
  }

  Result<BackupList> Finish() {
    if (!ended_) return UnexpectedRow("a backup without its end");
    return std::move(list_);
  }

 private:
  Status Begin(const bson_t* row) {
    list_.store = client::TextOf(row, "store");
    list_.time_millis = client::DateOf(row, "time").value_or(0);
    list_.position = client::IntegerOf(row, "position");
    figures_.bytes_total = static_cast<uint64_t>(client::IntegerOf(row, "bytes"));
    BRAID_CHECK_OK(store_.Check(client::TextOf(row, "process")));
    return target_.CheckStore(list_.store);
  }

  Status StartFile(const bson_t* row) {
    if (file_) return UnexpectedRow(StrCat("only a part of ", file_->name));
    BackupFile file{.name = std::string(client::TextOf(row, "file")),
                    .size = static_cast<uint64_t>(client::IntegerOf(row, "size")),
                    .table = client::BoolOf(row, "table"),
                    .mark = client::IntegerOf(row, "mark")};
    // The name becomes a path.
    if (file.name.empty() || file.name.find('/') != std::string::npos || file.name.starts_with('.')) {
      return UnexpectedRow(StrCat("a file with the name '", file.name, "'"));
    }
    if (client::BoolOf(row, "have")) {
      BRAID_TRY(file.hash, target_.TakeKnown(file));
      figures_.bytes_done += file.size;
      ++figures_.files_shared;
      list_.files.push_back(std::move(file));
      return {};
    }
    BRAID_CHECK_OK(target_.StartFile(file));
    file_ = std::move(file);
    hasher_.emplace();
    left_ = file_->size;
    return left_ == 0 ? EndFile() : Status();
  }

  Status TakeData(std::string_view bytes) {
    if (!file_ || bytes.size() > left_) return UnexpectedRow("bytes of no file");
    BRAID_CHECK_OK(target_.Write(bytes));
    hasher_->Add(bytes);
    left_ -= bytes.size();
    figures_.bytes_done += bytes.size();
    figures_.bytes_copied += bytes.size();
    return left_ == 0 ? EndFile() : Status();
  }

  Status EndFile() {
    BRAID_CHECK_OK(target_.EndFile());
    file_->hash = hasher_->hash();
    list_.files.push_back(*std::move(file_));
    file_.reset();
    ++figures_.files_copied;
    return {};
  }

  const ReachedStore& store_;
  Target& target_;
  const std::atomic<bool>& stop_;
  BackupFigures& figures_;
  BackupList list_;
  std::optional<BackupFile> file_;  // that is being received
  std::optional<Hasher> hasher_;
  uint64_t left_ = 0;  // of its bytes
  bool ended_ = false;
};

}  // namespace

Result<BackupList> ReceiveBackup(const ReachedStore& store, Target& target, const std::atomic<bool>& stop,
                                 BackupFigures& figures) {
  client::Bson have;
  size_t count = 0;
  for (const BackupFile& table : target.Known()) {
    client::Bson entry;
    entry.Text("name", table.name).Integer("size", static_cast<int64_t>(table.size)).Integer("mark", table.mark);
    have.Document(StrCat(count++).c_str(), entry);
  }
  client::Bson batch;
  batch.Integer("batchSize", 0);
  client::Bson command;
  command.Integer("braidBackup", 1).Array("have", have).Document("cursor", batch);
  Receiver receiver(store, target, stop, figures);
  BRAID_CHECK_OK(ForEachRow(*store.clients, command.get(), kRowsAtOnce,
                            [&receiver](const bson_t* row) { return receiver.Take(row); }));
  return receiver.Finish();
}

}  // namespace braid::backup
