#include "engine/storage/log_check.h"

#include <rocksdb/file_system.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "base/strings.h"
#include "engine/storage/options.h"

namespace braid::storage {
namespace {

constexpr size_t kBlockBytes = 32 << 10;
constexpr size_t kHeaderBytes = 7;         // of a record
constexpr size_t kCommitHeaderBytes = 12;  // sequence and count
constexpr uint8_t kLogDataTag = 3;         // RocksDB's tag of bytes in a batch that are for the log only
constexpr size_t kMarkBytes = 2 + sizeof(LogMark);

enum Part : uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

template <typename Number>
Number Load(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof(number));
  return number;
}

struct Record {
  Part part;
  std::string_view bytes;
};

/// The record at this place of a block, if there is a sound one.
std::optional<Record> RecordAt(std::string_view block, size_t at) {
  const size_t length = Load<uint16_t>(block.data() + at + 4);
  const auto part = static_cast<uint8_t>(block[at + 6]);
  if (part < kWhole || part > kLast || at + kHeaderBytes + length > block.size()) return std::nullopt;
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(block.data() + at + 6, 1 + length);
  const uint32_t sum = crc.checksum();
  const uint32_t masked = ((sum >> 15) | (sum << 17)) + 0xa282ead8u;  // RocksDB stores it so
  if (masked != Load<uint32_t>(block.data() + at)) return std::nullopt;
  return Record{static_cast<Part>(part), block.substr(at + kHeaderBytes, length)};
}

/// Goes through one log, block by block.
class Scan {
 public:
  explicit Scan(LogPosition next) : next_(next) {}

  void Block(std::string_view block) {
    size_t at = 0;
    while (at + kHeaderBytes <= block.size()) {
      const auto record = RecordAt(block, at);
      if (!record) {
        lost_ = true;
        ++at;  // from here on only to find what comes behind the damage
        continue;
      }
      at += kHeaderBytes + record->bytes.size();
      Take(*record, size_ + at);
    }
    size_ += block.size();
  }

  uint64_t size() const { return size_; }
  uint64_t whole() const { return whole_; }  ///< where the last commit ends that is there with all before it
  LogPosition next() const { return next_; }
  /// Its last commit is the mark of an orderly end: all of it is on the disk.
  bool ended() const { return ended_ && whole_ == size_; }
  /// What lies behind whole() had been synced before something else was written.
  bool damaged() const { return damaged_; }

 private:
  void Take(const Record& record, uint64_t end) {
    const bool begins = record.part == kWhole || record.part == kFirst;
    if (begins == open_) lost_ = true;  // a part is missing
    if (begins) {
      head_.clear();
      tail_.clear();
    }
    head_.append(record.bytes.substr(0, kCommitHeaderBytes - std::min(kCommitHeaderBytes, head_.size())));
    tail_.append(record.bytes.substr(record.bytes.size() - std::min(kMarkBytes, record.bytes.size())));
    if (tail_.size() > kMarkBytes) tail_.erase(0, tail_.size() - kMarkBytes);
    open_ = record.part == kFirst || record.part == kMiddle;
    if (!open_) Commit(end);
  }

  void Commit(uint64_t end) {
    if (!lost_ && head_.size() == kCommitHeaderBytes) {
      const auto sequence = Load<LogPosition>(head_.data());
      if (next_ == 0 || sequence == next_ || whole_ == 0) {  // an older log may be gone: only within a file
        next_ = sequence + Load<uint32_t>(head_.data() + 8);
        whole_ = end;
        const auto mark = Mark();
        ended_ = sequence == next_ && mark && mark->durable + 1 == next_;
        return;
      }
    }
    lost_ = true;
    const auto mark = Mark();
    if (!mark || mark->durable >= std::max(next_, mark->first)) damaged_ = true;  // without a mark nobody knows
  }

  std::optional<LogMark> Mark() const {
    if (tail_.size() < kMarkBytes || tail_[0] != kLogDataTag || tail_[1] != sizeof(LogMark)) return std::nullopt;
    return Load<LogMark>(tail_.data() + 2);
  }

  LogPosition next_;  // of the commit that comes next; 0: not known
  uint64_t size_ = 0;
  uint64_t whole_ = 0;
  bool ended_ = false;
  bool lost_ = false;
  bool damaged_ = false;
  bool open_ = false;  // within a commit
  std::string head_;   // the first and last bytes of the commit
  std::string tail_;
};

struct Log {
  uint64_t number;
  std::string path;
  uint64_t size = 0;
  uint64_t whole = 0;  // as Scan's
  bool ended = false;
};

Result<std::vector<Log>> FindLogs(rocksdb::FileSystem& files, const std::string& directory) {
  std::vector<std::string> names;
  BRAID_CHECK_OK(Translate(files.GetChildren(directory, {}, &names, nullptr), "cannot list the directory"));
  std::vector<Log> logs;
  for (const std::string& name : names) {
    Log log{0, StrCat(directory, "/", name)};
    const char* end = name.data() + name.size();
    const auto parsed = std::from_chars(name.data(), end, log.number);
    if (parsed.ec == std::errc() && std::string_view(parsed.ptr, static_cast<size_t>(end - parsed.ptr)) == ".log") {
      logs.push_back(std::move(log));
    }
  }
  std::sort(logs.begin(), logs.end(), [](const Log& a, const Log& b) { return a.number < b.number; });
  return logs;
}

Status Read(rocksdb::FileSystem& files, const std::string& path, Scan& scan) {
  const std::string doing = StrCat("cannot read the log ", path);
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  BRAID_CHECK_OK(Translate(files.NewSequentialFile(path, {}, &file, nullptr), doing));
  std::string scratch(kBlockBytes, '\0');
  rocksdb::Slice block;
  do {
    BRAID_CHECK_OK(Translate(file->Read(kBlockBytes, {}, &block, scratch.data(), nullptr), doing));
    scan.Block(block.ToStringView());
  } while (block.size() == kBlockBytes);
  return {};
}

/// Writes the whole commits of the log anew, and syncs them. To sync the file as it is would not do: after a sync that
/// failed in the process before, the system may show bytes that are not on the disk and that it will not write again.
Status Rewrite(rocksdb::FileSystem& files, const std::string& directory, const Log& log) {
  if (log.whole < log.size) {
    log::warn(
        "the log {} has a torn end: its last {} of {} bytes are dropped, which nothing shows to have been durable",
        log.path, log.size - log.whole, log.size);
  }
  const std::string doing = StrCat("cannot write the log ", log.path);
  const std::string copy = StrCat(directory, "/", log.number, ".dbtmp");  // RocksDB removes what is left of such a file
  std::unique_ptr<rocksdb::FSSequentialFile> from;
  BRAID_CHECK_OK(Translate(files.NewSequentialFile(log.path, {}, &from, nullptr), doing));
  std::unique_ptr<rocksdb::FSWritableFile> to;
  BRAID_CHECK_OK(Translate(files.NewWritableFile(copy, {}, &to, nullptr), doing));
  std::string scratch(kBlockBytes, '\0');
  for (uint64_t left = log.whole; left > 0;) {
    rocksdb::Slice block;
    const size_t size = std::min<uint64_t>(left, kBlockBytes);
    BRAID_CHECK_OK(Translate(from->Read(size, {}, &block, scratch.data(), nullptr), doing));
    if (block.size() != size) return {Code::kInternalError, StrCat(doing, ": it is shorter than before")};
    BRAID_CHECK_OK(Translate(to->Append(block, {}, nullptr), doing));
    left -= size;
  }
  BRAID_CHECK_OK(Translate(to->Fsync({}, nullptr), doing));
  BRAID_CHECK_OK(Translate(to->Close({}, nullptr), doing));
  BRAID_CHECK_OK(Translate(files.RenameFile(copy, log.path, {}, nullptr), doing));
  std::unique_ptr<rocksdb::FSDirectory> names;
  BRAID_CHECK_OK(Translate(files.NewDirectory(directory, {}, &names, nullptr), doing));
  return Translate(names->Fsync({}, nullptr), doing);
}

Status Damaged(const Log& log) {
  return {Code::kStorageCorrupt, StrCat("the log ", log.path, " is damaged at byte ", log.whole, " of ", log.size,
                                        ", which had been durable: acknowledged writes would be lost")};
}

/// Only a store whose very first start did not get far has none: its manifest is the first.
Status MayHaveNoLog(rocksdb::FileSystem& files, const std::string& directory) {
  const std::string current = StrCat(directory, "/CURRENT");
  if (files.FileExists(current, {}, nullptr).IsNotFound()) return {};
  std::string manifest;
  BRAID_CHECK_OK(Translate(rocksdb::ReadFileToString(&files, current, &manifest), StrCat("cannot read ", current)));
  if (manifest == "MANIFEST-000001\n") return {};
  return {Code::kStorageCorrupt,
          StrCat("no log (*.log) is left in ", directory, ": acknowledged writes would be lost")};
}

Status CheckAll(rocksdb::FileSystem& files, const std::string& directory) {
  BRAID_TRY(std::vector<Log> logs, FindLogs(files, directory));
  if (logs.empty()) BRAID_CHECK_OK(MayHaveNoLog(files, directory));
  LogPosition next = 0;
  const Log* newest = nullptr;  // that has something
  for (Log& log : logs) {
    Scan scan(next);
    BRAID_CHECK_OK(Read(files, log.path, scan));
    log.size = scan.size();
    log.whole = scan.whole();
    log.ended = scan.ended();
    if (log.size == 0) continue;
    // A log gets its first byte when the one before it is synced (log_order.h): only the newest can be torn.
    if (newest != nullptr && newest->whole < newest->size) return Damaged(*newest);
    if (scan.damaged()) return Damaged(log);
    newest = &log;
    next = scan.next();
  }
  if (newest == nullptr || newest->ended) return {};
  return Rewrite(files, directory, *newest);
}

}  // namespace

void AppendMark(rocksdb::WriteBatch& batch, const LogMark& mark) {
  const rocksdb::Status status = batch.PutLogData({reinterpret_cast<const char*>(&mark), sizeof(mark)});
  BRAID_ASSERT(status.ok());  // a batch in memory
}

Status CheckLogs(rocksdb::FileSystem& files, const std::string& directory) {
  // A store that runs writes to its logs: nothing is touched without the lock, which RocksDB then takes for itself.
  rocksdb::FileLock* lock = nullptr;
  const rocksdb::IOStatus locked = files.LockFile(StrCat(directory, "/LOCK"), {}, &lock, nullptr);
  if (!locked.ok()) return DirectoryInUse(directory, locked);
  const Status checked = CheckAll(files, directory);
  BRAID_CHECK_OK(Translate(files.UnlockFile(lock, {}, nullptr), "cannot unlock the directory"));
  return checked;
}

}  // namespace braid::storage
