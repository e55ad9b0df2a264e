#include "engine/storage/store_files.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/metadata.h>
#include <rocksdb/sst_file_reader.h>
#include <xxhash.h>

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "engine/storage/directory.h"
#include "engine/storage/durable_record.h"
#include "engine/storage/options.h"

namespace braid::storage {
namespace {

constexpr uint64_t kMarkedBytes = 4 << 10;
constexpr size_t kHashedAtOnce = 1 << 20;

}  // namespace

StoreFiles::StoreFiles(rocksdb::DB& db, std::shared_ptr<void> place)
    : db_(db), place_(std::move(place)), position_(db.GetLatestSequenceNumber()) {}

// RocksDB counts these calls: files are removed again once no one needs them.
StoreFiles::~StoreFiles() {
  open_.reset();
  const rocksdb::Status enabled = db_.EnableFileDeletions(/*force=*/false);
  if (!enabled.ok()) log::warn("old files are not removed until the store is opened again: {}", enabled.ToString());
}

// The newest log begins behind everything that was flushed. Its commits are not part of the copy, but a store without
// any log would count as one that has lost it: so the copy gets an empty one.
Result<std::unique_ptr<StoreFiles>> StoreFiles::PinWhole(rocksdb::DB& db, std::shared_ptr<void> place,
                                                         const std::function<uint64_t()>& log) {
  BRAID_CHECK_OK(Translate(db.DisableFileDeletions(), "cannot keep the files of the store"));
  std::unique_ptr<StoreFiles> pinned(new StoreFiles(db, std::move(place)));
  std::vector<rocksdb::LiveFileStorageInfo> live;
  rocksdb::LiveFilesStorageInfoOptions options;
  options.wal_size_for_flush = 0;  // always
  BRAID_CHECK_OK(Translate(db.GetLiveFilesStorageInfo(options, &live), "cannot list the files of the store"));
  const rocksdb::LiveFileStorageInfo* manifest = nullptr;
  pinned->files_.reserve(live.size() + 3);
  for (const rocksdb::LiveFileStorageInfo& file : live) {
    switch (file.file_type) {
      case rocksdb::kTableFile: BRAID_CHECK_OK(pinned->AddTable(file.relative_filename, file.size)); break;
      case rocksdb::kDescriptorFile: manifest = &file; break;
      case rocksdb::kCurrentFile: pinned->AddMade(file.relative_filename, file.replacement_contents); break;
      default: break;  // logs, and the options, which the program knows itself
    }
  }
  if (manifest == nullptr) return Status(Code::kInternalError, "the store has no manifest");
  pinned->AddMade(fmt::format("{:06}.log", log()), "");
  pinned->AddMade("IDENTITY", pinned->identity());
  BRAID_CHECK_OK(pinned->AddManifest(*manifest));
  std::ranges::stable_sort(pinned->files_, std::greater<>(), &StoreFile::table);
  return pinned;
}

Result<std::unique_ptr<StoreFiles>> StoreFiles::PinTables(rocksdb::DB& db, std::shared_ptr<void> place) {
  BRAID_CHECK_OK(Translate(db.DisableFileDeletions(), "cannot keep the files of the store"));
  std::unique_ptr<StoreFiles> pinned(new StoreFiles(db, std::move(place)));
  std::vector<rocksdb::LiveFileMetaData> live;
  db.GetLiveFilesMetaData(&live);
  pinned->files_.reserve(live.size());
  for (const rocksdb::LiveFileMetaData& file : live) {
    pinned->files_.push_back({.name = file.relative_filename, .size = file.size, .table = true});
  }
  return pinned;
}

uint64_t StoreFiles::bytes() const {
  uint64_t bytes = 0;
  for (const StoreFile& file : files_) bytes += file.size;
  return bytes;
}

std::string StoreFiles::identity() const {
  std::string identity;
  return db_.GetDbIdentity(identity).ok() ? identity : std::string();
}

std::string StoreFiles::PathOf(const StoreFile& file) const { return StrCat(db_.GetName(), "/", file.name); }

void StoreFiles::AddMade(std::string name, std::string contents) {
  const uint64_t size = contents.size();
  files_.push_back({.name = std::move(name), .size = size, .contents = std::move(contents)});
}

Status StoreFiles::AddTable(std::string name, uint64_t size) {
  StoreFile table{.name = std::move(name), .size = size, .table = true};
  const uint64_t marked = std::min(size, kMarkedBytes);
  std::string end;
  BRAID_CHECK_OK(Read(table, size - marked, marked, &end));
  table.mark = XXH3_64bits(end.data(), end.size());
  files_.push_back(std::move(table));
  return {};
}

// With its size at this moment; what RocksDB has appended since names files that are not part of the copy.
Status StoreFiles::AddManifest(const rocksdb::LiveFileStorageInfo& manifest) {
  StoreFile file{.name = manifest.relative_filename, .size = manifest.size};
  const auto number = ManifestNumber(file.name);
  if (!number) return {Code::kInternalError, StrCat(file.name, " is no manifest")};
  const std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> hash(XXH3_createState(), &XXH3_freeState);
  XXH3_64bits_reset(hash.get());
  std::string part;
  for (uint64_t at = 0; at < file.size; at += part.size()) {
    BRAID_CHECK_OK(Read(file, at, std::min<uint64_t>(kHashedAtOnce, file.size - at), &part));
    XXH3_64bits_update(hash.get(), part.data(), part.size());
  }
  AddMade("DURABLE", DurableRecord::FileOf({.position = position_,
                                            .manifests = {{*number, file.size, XXH3_64bits_digest(hash.get())}},
                                            .logs = {}}));
  files_.push_back(std::move(file));
  return {};
}

Status StoreFiles::Read(const StoreFile& file, uint64_t offset, size_t size, std::string* out) {
  if (file.contents) {
    *out = file.contents->substr(offset, size);
    return {};
  }
  const std::string doing = StrCat("cannot read ", PathOf(file));
  if (open_name_ != file.name || open_ == nullptr) {
    open_name_ = file.name;
    open_.reset();
    const auto& files = db_.GetEnv()->GetFileSystem();
    BRAID_CHECK_OK(Translate(files->NewRandomAccessFile(PathOf(file), {}, &open_, nullptr), doing));
  }
  out->resize(size);
  rocksdb::Slice read;
  BRAID_CHECK_OK(Translate(open_->Read(offset, size, {}, &read, out->data(), nullptr), doing));
  if (read.size() != size) return {Code::kStorageCorrupt, StrCat(doing, ": it is shorter than ", file.size, " bytes")};
  if (read.data() != out->data()) out->assign(read.data(), read.size());
  return {};
}

Status StoreFiles::CheckBlocks(const StoreFile& table) const {
  rocksdb::Options options = db_.GetOptions();
  options.info_log = nullptr;  // it would warn that a table is opened apart from its store
  rocksdb::SstFileReader reader(options);
  const std::string doing = StrCat("the table ", PathOf(table), " is damaged");
  BRAID_CHECK_OK(Translate(reader.Open(PathOf(table)), doing));
  return Translate(reader.VerifyChecksum(), doing);
}

}  // namespace braid::storage
