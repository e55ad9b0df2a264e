#include "engine/storage/durable_record.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "engine/storage/directory.h"
#include "engine/storage/options.h"

namespace braid::storage {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

namespace {

constexpr size_t kSlots = 3;
constexpr size_t kSlotBytes = 4 << 10;
constexpr size_t kManifestsMax = 4;  // older ones are of failed starts; only the newest are kept
constexpr size_t kLogsMax = 128;     // older ones are of repeated kills; only the newest are kept

struct SlotHeader {
  uint64_t hash;  // of what follows
  uint64_t generation;
  uint64_t position;
  uint32_t manifests;
  uint32_t logs;
};
static_assert(sizeof(SlotHeader) + kManifestsMax * sizeof(DurableState::Manifest) +
                  kLogsMax * sizeof(DurableState::Log) <=
              kSlotBytes);

uint64_t SlotHash(std::string_view slot) {
  constexpr uint64_t kSeed = 0x4272616964;  // so that a block of zeros has no valid hash
  slot.remove_prefix(sizeof(SlotHeader::hash));
  return XXH3_64bits_withSeed(slot.data(), slot.size(), kSeed);
}

template <typename Value>
void AppendBytes(const Value& value, std::string& slot) {
  slot.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

template <typename Entry>
std::vector<Entry> TakeEntries(std::string_view& slot, size_t count) {
  std::vector<Entry> entries(count);
  for (Entry& entry : entries) {
    std::memcpy(&entry, slot.data(), sizeof(Entry));
    slot.remove_prefix(sizeof(Entry));
  }
  return entries;
}

template <typename Entry>
void KeepNewest(std::vector<Entry>& entries, size_t max) {
  if (entries.size() > max) entries.erase(entries.begin(), entries.end() - static_cast<ptrdiff_t>(max));
}

/// Into a buffer that is used again: this is done for every sync.
void EncodeSlot(const DurableState& state, uint64_t generation, std::string& slot) {
  BRAID_ASSERT(state.manifests.size() <= kManifestsMax);
  SlotHeader header{.hash = 0,
                    .generation = generation,
                    .position = state.position,
                    .manifests = static_cast<uint32_t>(state.manifests.size()),
                    .logs = 0};
  slot.clear();
  AppendBytes(header, slot);
  for (const DurableState::Manifest& manifest : state.manifests) AppendBytes(manifest, slot);
  for (size_t i = state.logs.size() - std::min(state.logs.size(), kLogsMax); i < state.logs.size(); ++i) {
    DurableState::Log log = state.logs[i];
    log.last = std::min(log.last, state.position);
    if (log.first > log.last) continue;  // a log without durable commits may vanish
    AppendBytes(log, slot);
    ++header.logs;
  }
  BRAID_ASSERT(slot.size() <= kSlotBytes);
  std::memcpy(slot.data(), &header, sizeof(header));
  header.hash = SlotHash(slot);
  std::memcpy(slot.data(), &header.hash, sizeof(header.hash));
}

struct DecodedSlot {
  uint64_t generation;
  DurableState state;
};

std::optional<DecodedSlot> DecodeSlot(std::string_view slot) {
  SlotHeader header;
  if (slot.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, slot.data(), sizeof(header));
  if (header.manifests > kManifestsMax || header.logs > kLogsMax) return std::nullopt;
  const size_t size =
      sizeof(header) + header.manifests * sizeof(DurableState::Manifest) + header.logs * sizeof(DurableState::Log);
  if (slot.size() < size || SlotHash(slot.substr(0, size)) != header.hash) return std::nullopt;
  slot.remove_prefix(sizeof(header));
  DecodedSlot decoded{header.generation, {.position = header.position}};
  decoded.state.manifests = TakeEntries<DurableState::Manifest>(slot, header.manifests);
  decoded.state.logs = TakeEntries<DurableState::Log>(slot, header.logs);
  return decoded;
}

std::string RecordPath(const std::string& directory) { return StrCat(directory, "/DURABLE"); }

struct FreeHash {
  void operator()(XXH3_state_t* hash) const { XXH3_freeState(hash); }
};

/// Notes its size and hash at every sync.
class ManifestFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  ManifestFile(std::unique_ptr<rocksdb::FSWritableFile> file, uint64_t number, std::shared_ptr<DurableRecord> record)
      : FSWritableFileOwnerWrapper(std::move(file)), number_(number), record_(std::move(record)) {
    XXH3_64bits_reset(hash_.get());
  }

  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    {
      const MutexLock lock(mu_);
      XXH3_64bits_update(hash_.get(), data.data(), data.size());
      size_ += data.size();
    }
    return target()->Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Noted(target()->Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Noted(target()->Fsync(options, debug));
  }

 private:
  IOStatus Noted(const IOStatus& synced) {
    if (!synced.ok()) return synced;
    MutexLock lock(mu_);
    const DurableState::Manifest manifest{number_, size_, XXH3_64bits_digest(hash_.get())};
    lock.Unlock();
    return record_->ManifestSynced(manifest);
  }

  const uint64_t number_;
  const std::shared_ptr<DurableRecord> record_;
  // RocksDB writes to a manifest from one thread at a time, but ThreadSanitizer does not see RocksDB's own mutex.
  Mutex mu_;
  const std::unique_ptr<XXH3_state_t, FreeHash> hash_ BRAID_PT_GUARDED_BY(mu_){XXH3_createState()};
  uint64_t size_ BRAID_GUARDED_BY(mu_) = 0;
};

}  // namespace

Result<std::optional<DurableState>> DurableRecord::Read(rocksdb::FileSystem& files, const std::string& directory) {
  const std::string path = RecordPath(directory);
  const IOStatus exists = files.FileExists(path, {}, nullptr);
  if (exists.IsNotFound()) return std::optional<DurableState>();
  BRAID_CHECK_OK(Translate(exists, StrCat("cannot look for ", path)));
  std::string bytes;
  BRAID_CHECK_OK(Translate(rocksdb::ReadFileToString(&files, path, &bytes), StrCat("cannot read ", path)));
  std::optional<DecodedSlot> newest;
  for (size_t at = 0; at < bytes.size(); at += kSlotBytes) {
    auto slot = DecodeSlot(std::string_view(bytes).substr(at, kSlotBytes));
    if (slot && (!newest || slot->generation > newest->generation)) newest = std::move(slot);
  }
  if (!newest) return Status(Code::kStorageCorrupt, StrCat("the record of what is durable, ", path, ", is damaged"));
  return std::optional<DurableState>(std::move(newest->state));
}

// A new file: after a failed sync in the previous process it is not known which slots of the old one are on the disk.
Result<std::unique_ptr<DurableRecord>> DurableRecord::Create(rocksdb::FileSystem& files, const std::string& directory,
                                                             DurableState state) {
  const std::string path = RecordPath(directory);
  BRAID_CHECK_OK(ReplaceFile(files, directory, path, FileOf(state)));
  std::unique_ptr<rocksdb::FSRandomRWFile> file;
  BRAID_CHECK_OK(Translate(files.NewRandomRWFile(path, {}, &file, nullptr), StrCat("cannot open ", path)));
  return std::unique_ptr<DurableRecord>(new DurableRecord(std::move(file), std::move(state)));
}

std::string DurableRecord::FileOf(const DurableState& state) {
  std::string bytes;
  EncodeSlot(state, 1, bytes);
  bytes.resize(kSlots * kSlotBytes);
  return bytes;
}

IOStatus DurableRecord::Reached(LogPosition position) {
  const MutexLock lock(mu_);
  if (position <= state_.position) return failure_;
  state_.position = position;
  return Write(FreeSlot());
}

void DurableRecord::LogStarted(uint64_t number, LogPosition first) {
  const MutexLock lock(mu_);
  if (!state_.logs.empty() && state_.logs.back().last == kOpenEnd) state_.logs.back().last = first - 1;
  state_.logs.push_back({number, first, kOpenEnd});
}

IOStatus DurableRecord::ManifestSynced(const DurableState::Manifest& manifest) {
  const MutexLock order(sync_mu_);
  {
    const MutexLock lock(mu_);
    auto& manifests = state_.manifests;
    std::erase_if(manifests, [&manifest](const auto& known) { return known.number == manifest.number; });
    manifests.push_back(manifest);
    KeepNewest(manifests, kManifestsMax);
  }
  return WriteAndSync();
}

IOStatus DurableRecord::Forget(uint64_t number) {
  const auto is_it = [number](const auto& known) { return known.number == number; };  // no two files have one number
  const MutexLock order(sync_mu_);
  {
    const MutexLock lock(mu_);
    if (std::erase_if(state_.logs, is_it) + std::erase_if(state_.manifests, is_it) == 0) return failure_;
  }
  return WriteAndSync();
}

size_t DurableRecord::FreeSlot() const {
  size_t slot = 0;
  while (slot == synced_ || slot == syncing_) ++slot;
  BRAID_ASSERT(slot < kSlots);
  return slot;
}

IOStatus DurableRecord::Write(size_t slot) {
  BRAID_ASSERT(slot != synced_ && slot != syncing_);  // the slot that a power failure would leave is never overwritten
  if (!failure_.ok()) return failure_;
  EncodeSlot(state_, ++generation_, buffer_);
  failure_ = file_->Write(slot * kSlotBytes, buffer_, {}, nullptr);
  return failure_;
}

IOStatus DurableRecord::WriteAndSync() {
  {
    const MutexLock lock(mu_);
    const size_t slot = FreeSlot();
    if (IOStatus written = Write(slot); !written.ok()) return written;
    syncing_ = slot;
  }
  const IOStatus synced = file_->Sync({}, nullptr);
  const MutexLock lock(mu_);
  BRAID_ASSERT(syncing_ != kNone);  // one sync at a time
  if (synced.ok()) {
    synced_ = syncing_;
  } else if (failure_.ok()) {
    failure_ = synced;
  }
  syncing_ = kNone;
  return synced;
}

IOStatus DurableFiles::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) {
  IOStatus status = target()->NewWritableFile(name, options, result, debug);
  const auto manifest = ManifestNumber(name);
  if (status.ok() && manifest) *result = std::make_unique<ManifestFile>(std::move(*result), *manifest, record_);
  return status;
}

IOStatus DurableFiles::DeleteFile(const std::string& name, const IOOptions& options, IODebugContext* debug) {
  auto number = LogNumber(name);
  if (!number) number = ManifestNumber(name);
  if (number) {
    if (IOStatus status = record_->Forget(*number); !status.ok()) return status;
  }
  return target()->DeleteFile(name, options, debug);
}

}  // namespace braid::storage
