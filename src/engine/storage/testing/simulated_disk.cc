#include "engine/storage/testing/simulated_disk.h"

#include <cstring>

namespace braid::storage {

using rocksdb::IOStatus;
using rocksdb::Slice;

namespace {

constexpr size_t kSectorBytes = 512;

void Apply(const NameChange& change, Files& files) {
  for (const auto& [name, file] : change) {
    if (file == nullptr) {
      files.erase(name);
    } else {
      files[name] = file;
    }
  }
}

/// A sector that was written over: old, new, or neither.
void TearSector(std::string& bytes, size_t sector, const std::string& old, Random& random) {
  const size_t begin = sector * kSectorBytes;
  switch (random.Below(4)) {
    case 0: bytes.replace(begin, old.size(), old); break;
    case 1: {
      const size_t written = random.Below(old.size());
      bytes.replace(begin + written, old.size() - written, old, written);
      break;
    }
    default: break;
  }
}

/// The contents of a file after a power failure.
std::shared_ptr<File> Survivor(const std::string& name, const File& file, Random& random) {
  auto left = std::make_shared<File>();
  const size_t unsynced = file.bytes.size() - file.synced;
  const size_t kept = random.Chance(1, 3) ? 0 : random.Chance(1, 3) ? unsynced : random.Below(unsynced + 1);
  std::string& bytes = left->bytes;
  bytes = file.bytes.substr(0, file.synced + kept);
  for (const auto& [begin, end] : file.gone) {
    for (size_t at = begin; at < std::min(end, bytes.size()); ++at) bytes[at] = 0;
  }
  if (kept > 0 && name.find("MANIFEST") == std::string::npos) {
    switch (random.Below(4)) {
      case 0: {  // garbage at the end
        const size_t garbage = 1 + random.Below(std::min<size_t>(kept, 3 * kSectorBytes));
        for (size_t at = bytes.size() - garbage; at < bytes.size(); ++at) bytes[at] = static_cast<char>(random.Next());
        break;
      }
      case 1:  // sectors that were not written, before others that were
        for (size_t at = file.synced; at < bytes.size(); ++at) {
          const size_t end = std::min(bytes.size(), (at / kSectorBytes + 1) * kSectorBytes);
          if (random.Chance(1, 4)) std::memset(bytes.data() + at, 0, end - at);
          at = end - 1;
        }
        break;
      default: break;  // cut
    }
  }
  for (const auto& [sector, old] : file.overwritten) TearSector(bytes, sector, old, random);
  for (const auto& [sector, old] : file.forgotten) bytes.replace(sector * kSectorBytes, old.size(), old);
  left->synced = bytes.size();
  return left;
}

}  // namespace

bool SimulatedDisk::Due(Fault fault) {
  if (armed != fault) return false;
  if (fired) return again;
  if (left-- > 0) return false;
  fired = true;
  again = random.Chance(1, 2);
  return true;
}

IOStatus SimulatedDisk::Change() {
  if (!dead && Due(Fault::kPowerLoss)) LosePower();
  return Alive();
}
IOStatus SimulatedDisk::Alive() const { return dead ? IOStatus::IOError("no power") : IOStatus::OK(); }

void SimulatedDisk::Rename(NameChange change) {
  Apply(change, files);
  changes.push_back(std::move(change));
}

void SimulatedDisk::LosePower() {
  const size_t written = random.Below(changes.size() + 1);
  for (size_t i = 0; i < written; ++i) Apply(changes[i], durable);
  std::map<const File*, std::shared_ptr<File>> survivors;
  for (auto& [name, file] : durable) {
    auto& survivor = survivors[file.get()];
    if (survivor == nullptr) survivor = Survivor(name, *file, random);
    file = survivor;
  }
  files = durable;
  changes.clear();
  dead = true;
}

std::shared_ptr<File> SimulatedDisk::Find(const std::string& name) const {
  const auto at = files.find(name);
  return at == files.end() ? nullptr : at->second;
}

IOStatus SimulatedDisk::Append(File& file, std::string_view bytes) {
  if (IOStatus status = Change(); !status.ok()) return status;
  if (Due(Fault::kAppendError)) {
    file.bytes.append(bytes.substr(0, random.Below(bytes.size() + 1)));
    return IOStatus::IOError("injected error of an append");
  }
  if (armed == Fault::kFullDisk) {
    const size_t fits = std::min<size_t>(left, bytes.size());
    file.bytes.append(bytes.substr(0, fits));
    left -= fits;
    if (fits == bytes.size()) return IOStatus::OK();
    fired = true;
    return IOStatus::NoSpace("injected: no space left on the disk");
  }
  file.bytes.append(bytes);
  return IOStatus::OK();
}

IOStatus SimulatedDisk::Overwrite(File& file, uint64_t offset, std::string_view bytes) {
  if (IOStatus status = Change(); !status.ok()) return status;
  if (offset + bytes.size() > file.bytes.size()) return IOStatus::InvalidArgument("beyond the end of the file");
  const bool fails = Due(Fault::kAppendError);
  if (fails) bytes = bytes.substr(0, random.Below(bytes.size() + 1));
  for (size_t sector = offset / kSectorBytes; sector * kSectorBytes < offset + bytes.size(); ++sector) {
    file.overwritten.try_emplace(sector, file.bytes.substr(sector * kSectorBytes, kSectorBytes));
  }
  file.bytes.replace(offset, bytes.size(), bytes);
  return fails ? IOStatus::IOError("injected error of a write") : IOStatus::OK();
}

IOStatus SimulatedDisk::Sync(File& file) {
  if (IOStatus status = Change(); !status.ok()) return status;
  if (Due(Fault::kSyncError)) {
    // Systems differ: some forget what they could not write, and the next sync succeeds without it.
    if (random.Chance(1, 2)) {
      file.forgotten.merge(file.overwritten);
      file.overwritten.clear();
      file.gone.emplace_back(file.synced, file.bytes.size());
      file.synced = file.bytes.size();
    }
    return IOStatus::IOError("injected error of a sync");
  }
  for (const auto& [sector, old] : file.overwritten) file.forgotten.erase(sector);
  file.overwritten.clear();
  file.synced = file.bytes.size();
  return IOStatus::OK();
}

IOStatus SimulatedDisk::SyncNames() {
  if (IOStatus status = Change(); !status.ok()) return status;
  if (Due(Fault::kSyncError)) return IOStatus::IOError("injected error of a directory's sync");
  for (const NameChange& change : changes) Apply(change, durable);
  changes.clear();
  return IOStatus::OK();
}

IOStatus SimulatedDisk::Read(const File& file, uint64_t offset, size_t count, Slice* result, char* scratch) {
  *result = Slice(scratch, 0);
  if (IOStatus status = Alive(); !status.ok()) return status;
  if (Due(Fault::kReadError)) return IOStatus::IOError("injected error of a read");
  if (offset >= file.bytes.size()) return IOStatus::OK();
  const size_t size = file.bytes.copy(scratch, count, offset);
  *result = Slice(scratch, size);
  return IOStatus::OK();
}

}  // namespace braid::storage
