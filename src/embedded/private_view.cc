#include "embedded/private_view.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <vector>

#include "base/strings.h"
#include "engine/storage/directory.h"

namespace braid::embedded {
namespace {

namespace fs = std::filesystem;

Status NoView(const fs::path& store, std::string_view why) {
  return Status(Code::kInternalError, StrCat("cannot make a readable copy of ", store.string(), ": ", why));
}

// The record of what is durable is copied first: whatever is copied later contains at least that. Then come the lists
// of files, and the tables last: every table that the lists name is there, or the opening notices that a running server
// has removed it since. Logs are copied in the order of their numbers.
int OrderOf(const fs::path& file) {
  const std::string name = file.filename().string();
  if (name == "DURABLE") return 0;
  if (name == "CURRENT") return 1;
  if (name.starts_with("MANIFEST-")) return 2;
  return file.extension() == ".log" ? 3 : 4;
}

Result<std::vector<fs::path>> FilesOf(const fs::path& store) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator file(store, error), end; !error && file != end; file.increment(error)) {
    // A backup's list (storage/directory.h) forbids opening the directory as a store; the view is not a backup, so it
    // is left out.
    const fs::path name = file->path().filename();
    if (name == "LOCK" || name == storage::kBackupList || fs::is_directory(file->path(), error)) continue;
    files.push_back(file->path());
  }
  if (error) return NoView(store, error.message());
  std::ranges::sort(
      files, [](const fs::path& a, const fs::path& b) { return std::pair(OrderOf(a), a) < std::pair(OrderOf(b), b); });
  return files;
}

// The process that holds RocksDB's lock; -1 if there is none or it is not known. The lock file is not opened: closing
// it would release a lock that this process itself may hold.
int LockHolder(const fs::path& store) {
  struct stat about {};
  if (stat((store / "LOCK").c_str(), &about) != 0) return -1;
  std::ifstream locks("/proc/locks");
  // "1: POSIX  ADVISORY  WRITE 4242 08:01:1234 0 EOF"
  for (std::string number, kind, advisory, mode, rest; locks >> number >> kind >> advisory >> mode;) {
    int pid = 0;
    unsigned major_number = 0;
    unsigned minor_number = 0;
    unsigned long long inode = 0;
    std::getline(locks, rest);
    if (sscanf(rest.c_str(), "%d %x:%x:%llu", &pid, &major_number, &minor_number, &inode) != 4) continue;
    if (kind == "POSIX" && mode == "WRITE" && inode == about.st_ino &&
        makedev(major_number, minor_number) == about.st_dev) {
      return std::max(0, pid);
    }
  }
  return -1;
}

}  // namespace

Result<std::unique_ptr<PrivateView>> PrivateView::Make(const fs::path& store) {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "braid-view-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr) return NoView(store, strerror(errno));
  std::unique_ptr<PrivateView> view(new PrivateView(pattern));
  const fs::path from = fs::absolute(store, error);
  BRAID_TRY(const std::vector<fs::path> files, FilesOf(from));
  for (const fs::path& file : files) {
    const fs::path to = view->directory_ / file.filename();
    if (file.extension() == ".sst") {
      fs::create_symlink(file, to, error);
    } else {
      fs::copy_file(file, to, error);
      if (!error) fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, error);
    }
    if (error == std::errc::no_such_file_or_directory) error.clear();  // a server has removed it since
    if (error) return NoView(store, StrCat(file.string(), ": ", error.message()));
  }
  return view;
}

PrivateView::~PrivateView() {
  std::error_code ignored;
  fs::remove_all(directory_, ignored);
}

std::string Access::Describe(const fs::path& store) const {
  const std::string directory = StrCat("the directory ", store.string());
  switch (kind) {
    case Kind::kWritable: return StrCat(directory, " can be written to");
    case Kind::kReadOnlyFileSystem: return StrCat(directory, " is on a read-only file system");
    case Kind::kNoPermission: return StrCat("there is no permission to write to ", directory);
    case Kind::kUnreadable: return StrCat("there is no permission to read ", directory);
    case Kind::kInUse:
      return pid > 0 ? StrCat(directory, " is in use by another process (pid ", pid, ")")
                     : StrCat(directory, " is in use by another process");
  }
  return directory;
}

Access LookAt(const fs::path& store) {
  using Kind = Access::Kind;
  if (access(store.c_str(), R_OK | X_OK) != 0) return {.kind = Kind::kUnreadable};
  if (const int pid = LockHolder(store); pid >= 0) return {.kind = Kind::kInUse, .pid = pid};
  for (const fs::path& file : {store, store / "CURRENT", store / "LOCK"}) {
    if (access(file.c_str(), W_OK) == 0 || errno == ENOENT) continue;
    return {.kind = errno == EROFS ? Kind::kReadOnlyFileSystem : Kind::kNoPermission};
  }
  return {};
}

}  // namespace braid::embedded
