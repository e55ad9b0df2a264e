#include "engine/storage/directory.h"

#include <rocksdb/file_system.h>

#include <charconv>

#include "base/strings.h"
#include "engine/storage/options.h"

namespace braid::storage {
namespace {

/// The number between both, and nothing else.
std::optional<uint64_t> NumberWithin(std::string_view path, std::string_view before, std::string_view behind) {
  std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with(before) || !name.ends_with(behind) || name.size() <= before.size() + behind.size()) return {};
  name = name.substr(before.size(), name.size() - before.size() - behind.size());
  uint64_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return {};
  return number;
}

}  // namespace

// A store that has lost its CURRENT still has other files. It counts as a store: opening it names the damage.
bool HoldsStore(const std::filesystem::path& directory) {
  std::error_code error;
  if (std::filesystem::exists(directory / "CURRENT", error)) return true;
  for (std::filesystem::directory_iterator file(directory, error), end; !error && file != end; file.increment(error)) {
    if (file->path().filename().string().starts_with("MANIFEST-") || file->path().extension() == ".sst") return true;
  }
  return false;
}

Status RefuseBackup(rocksdb::FileSystem& files, const std::string& directory) {
  const std::string path = StrCat(directory, "/", kBackupList);
  const rocksdb::IOStatus exists = files.FileExists(path, {}, nullptr);
  if (exists.IsNotFound()) return {};
  BRAID_CHECK_OK(Translate(exists, StrCat("cannot look for ", path)));
  return {Code::kIllegalOperation,
          StrCat("the directory ", directory, " is a backup, which would be changed: restore it first, with ",
                 "braid restore ", directory, " --store DIR")};
}

std::optional<uint64_t> LogNumber(std::string_view path) { return NumberWithin(path, "", ".log"); }
std::optional<uint64_t> ManifestNumber(std::string_view path) { return NumberWithin(path, "MANIFEST-", ""); }

Result<std::string> ReadCurrent(rocksdb::FileSystem& files, const std::string& directory) {
  const std::string path = StrCat(directory, "/CURRENT");
  const rocksdb::IOStatus exists = files.FileExists(path, {}, nullptr);
  if (exists.IsNotFound()) return std::string();
  std::string text;
  BRAID_CHECK_OK(Translate(exists, StrCat("cannot look for ", path)));
  BRAID_CHECK_OK(Translate(rocksdb::ReadFileToString(&files, path, &text), StrCat("cannot read ", path)));
  return text.empty() ? std::string("\n") : text;
}

Status ReplaceFile(rocksdb::FileSystem& files, const std::string& directory, const std::string& path,
                   std::string_view bytes) {
  const std::string doing = StrCat("cannot write ", path);
  const std::string copy = StrCat(directory, "/0.dbtmp");  // RocksDB removes a leftover file of this name
  BRAID_CHECK_OK(Translate(rocksdb::WriteStringToFile(&files, bytes, copy, /*should_sync=*/true), doing));
  return PutInPlace(files, directory, copy, path);
}

Status PutInPlace(rocksdb::FileSystem& files, const std::string& directory, const std::string& from,
                  const std::string& to) {
  const std::string doing = StrCat("cannot write ", to);
  BRAID_CHECK_OK(Translate(files.RenameFile(from, to, {}, nullptr), doing));
  std::unique_ptr<rocksdb::FSDirectory> names;
  BRAID_CHECK_OK(Translate(files.NewDirectory(directory, {}, &names, nullptr), doing));
  return Translate(names->Fsync({}, nullptr), doing);
}

}  // namespace braid::storage
