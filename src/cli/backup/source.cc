#include "cli/backup/source.h"

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "cli/backup/format.h"
#include "cli/backup/target.h"

namespace braid::backup {
namespace {

namespace fs = std::filesystem;

/// Hashes what it passes on.
class Visit {
 public:
  explicit Visit(const BackupVisitor& visitor) : visitor_(visitor) {}

  Status Start(const std::string& name) {
    name_ = name;
    hasher_.emplace();
    size_ = 0;
    return visitor_.start ? visitor_.start(name) : Status();
  }
  Status Bytes(std::string_view bytes) {
    hasher_->Add(bytes);
    size_ += bytes.size();
    if (visitor_.bytes_read != nullptr) *visitor_.bytes_read += bytes.size();
    return visitor_.bytes ? visitor_.bytes(bytes) : Status();
  }
  Status End() {
    found_[name_] = {size_, hasher_->hash()};
    return visitor_.end ? visitor_.end() : Status();
  }

  std::vector<std::string> Compare(const BackupList& list, const fs::path& backup) {
    std::vector<std::string> damage;
    for (const BackupFile& file : list.files) {
      const std::string path = StrCat(backup.string(), "/", file.name);
      const auto found = found_.find(file.name);
      if (found == found_.end()) {
        damage.push_back(StrCat(path, " is missing"));
      } else if (found->second.size != file.size) {
        damage.push_back(StrCat(path, " has ", found->second.size, " bytes instead of ", file.size));
      } else if (found->second.hash != file.hash) {
        damage.push_back(StrCat(path, " does not match its checksum"));
      }
    }
    return damage;
  }

 private:
  struct Found {
    uint64_t size = 0;
    uint64_t hash = 0;
  };
  const BackupVisitor& visitor_;
  std::string name_;
  std::optional<Hasher> hasher_;
  uint64_t size_ = 0;
  std::map<std::string, Found> found_;
};

Result<ReadBackup> ReadDirectory(const fs::path& backup, const BackupVisitor& visitor) {
  const fs::path list_path = backup / kListName;
  BRAID_TRY(const std::string text, ReadSmallFile(list_path));
  BRAID_TRY(BackupList list, BackupList::Parse(text, list_path.string()));
  Visit visit(visitor);
  std::error_code error;
  for (const BackupFile& file : list.files) {
    if (!fs::exists(backup / file.name, error)) continue;  // Compare() says so
    BRAID_CHECK_OK(visit.Start(file.name));
    BRAID_CHECK_OK(ReadParts(backup / file.name, [&visit](std::string_view bytes) { return visit.Bytes(bytes); }));
    BRAID_CHECK_OK(visit.End());
  }
  std::vector<std::string> damage = visit.Compare(list, backup);
  return ReadBackup{std::move(list), std::move(damage)};
}

/// Takes an archive apart as its bytes come.
class ArchiveReader {
 public:
  ArchiveReader(const fs::path& archive, const BackupVisitor& visitor) : archive_(archive), visit_(visitor) {}

  Status Take(std::string_view bytes) {
    while (!bytes.empty() && !ended_) {
      if (left_ + padding_ == 0) {
        const size_t size = std::min(bytes.size(), kTarBlock - header_.size());
        header_ += bytes.substr(0, size);
        bytes.remove_prefix(size);
        if (header_.size() == kTarBlock) BRAID_CHECK_OK(TakeHeader());
        continue;
      }
      const size_t size = std::min<uint64_t>(bytes.size(), left_ > 0 ? left_ : padding_);
      if (left_ > 0) BRAID_CHECK_OK(TakeBytes(bytes.substr(0, size)));
      (left_ > 0 ? left_ : padding_) -= size;
      bytes.remove_prefix(size);
      if (left_ == 0 && open_) BRAID_CHECK_OK(EndFile());
    }
    return {};
  }

  Result<ReadBackup> Finish() {
    if (!ended_ || list_text_.empty()) {
      return Status(Code::kStorageCorrupt, StrCat("the archive ", archive_.string(), " has lost its end"));
    }
    BRAID_TRY(BackupList list, BackupList::Parse(list_text_, StrCat(archive_.string(), "/", kListName)));
    std::vector<std::string> damage = visit_.Compare(list, archive_);
    return ReadBackup{std::move(list), std::move(damage)};
  }

 private:
  Status TakeHeader() {
    if (header_.find_first_not_of('\0') == std::string::npos) {
      ended_ = true;
      return {};
    }
    const auto entry = ReadTarHeader(header_);
    header_.clear();
    if (!entry || entry->name.empty() || entry->name.find('/') != std::string::npos || entry->name.starts_with('.')) {
      return {Code::kStorageCorrupt, StrCat("the archive ", archive_.string(), " is damaged behind ",
                                            name_.empty() ? "its beginning" : name_, ", or no backup")};
    }
    name_ = entry->name;
    left_ = entry->size;
    padding_ = TarPadding(left_);
    open_ = true;
    if (name_ != kListName) BRAID_CHECK_OK(visit_.Start(name_));
    return left_ == 0 ? EndFile() : Status();
  }
  Status TakeBytes(std::string_view bytes) {
    if (name_ != kListName) return visit_.Bytes(bytes);
    list_text_ += bytes;
    return {};
  }
  Status EndFile() {
    open_ = false;
    return name_ != kListName ? visit_.End() : Status();
  }

  const fs::path archive_;
  Visit visit_;
  std::string header_;
  std::string name_;  // of the file that is read
  bool open_ = false;
  uint64_t left_ = 0;     // of its bytes
  uint64_t padding_ = 0;  // behind them
  std::string list_text_;
  bool ended_ = false;
};

}  // namespace

Result<fs::path> ChooseBackup(const fs::path& source, std::optional<int64_t> id) {
  std::error_code error;
  if (!fs::exists(source, error)) {
    return Status(Code::kNamespaceNotFound, StrCat("there is no ", source.string()));
  }
  if (!fs::is_directory(source, error) || fs::exists(source / kListName, error)) {
    if (!id) return source;
    return Status(Code::kBadValue, StrCat(source.string(), " is one backup: leave --backup out"));
  }
  BRAID_TRY(const std::vector<FoundBackup> found, FindBackups(source));
  if (found.empty()) return Status(Code::kNamespaceNotFound, StrCat("there is no backup in ", source.string()));
  if (!id) return found.back().path;
  const auto chosen = std::ranges::find(found, *id, &FoundBackup::id);
  if (chosen != found.end()) return chosen->path;
  return Status(Code::kNamespaceNotFound,
                StrCat("there is no backup ", *id, " in ", source.string(), "; the oldest is ", found.front().id,
                       ", the newest ", found.back().id));
}

Result<ReadBackup> ReadWhole(const fs::path& backup, const BackupVisitor& visitor) {
  std::error_code error;
  if (fs::is_directory(backup, error)) return ReadDirectory(backup, visitor);
  ArchiveReader reader(backup, visitor);
  BRAID_CHECK_OK(ReadParts(backup, [&reader](std::string_view bytes) { return reader.Take(bytes); }));
  return reader.Finish();
}

}  // namespace braid::backup
