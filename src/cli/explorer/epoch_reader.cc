// Epochs of files, parsed ahead by a thread of its own.
#include "cli/explorer/import.h"

#include <chrono>
#include <utility>

#include "base/mutex.h"
#include "base/strings.h"

namespace braid::cli::explorer {
namespace {

using braid::explorer::Epoch;
using braid::explorer::kEpochBytesMax;

// What is held beside the epochs that are being stored.
constexpr size_t kReadyEpochsMax = 512;
constexpr size_t kReadyBytesMax = size_t{32} << 20;
constexpr auto kLookAtStopEvery = std::chrono::milliseconds(100);

}  // namespace

std::string EpochPlace::ToString() const { return StrCat(file, ":", line); }

EpochReader::EpochReader(std::vector<std::string> files, int64_t skip_epochs)
    : files_(std::move(files)), to_skip_(skip_epochs), thread_([this] { ReadFiles(); }) {}

EpochReader::~EpochReader() {
  {
    const MutexLock lock(mu_);
    closing_ = true;
    if (lines_ != nullptr) lines_->Close();
    changed_.NotifyAll();
  }
  thread_.join();
}

Result<EpochReader::Batch> EpochReader::Next(const std::atomic<bool>& stop) {
  MutexLock lock(mu_);
  // A signal sets `stop` and wakes nobody.
  while (!changed_.WaitFor(lock, kLookAtStopEvery,
                           [&]() BRAID_REQUIRES(mu_) { return ended_ || !ready_.epochs.empty(); })) {
    if (stop.load()) return Batch();
  }
  if (ready_.epochs.empty() && !failure_.ok()) return failure_;
  Batch batch = std::exchange(ready_, Batch());
  ready_bytes_ = 0;
  changed_.NotifyAll();
  return batch;
}

std::string EpochReader::Position() const {
  const MutexLock lock(mu_);
  return position_.ToString();
}

void EpochReader::ReadFiles() {
  Status status;
  for (size_t i = 0; status.ok() && i < files_.size(); ++i) {
    status = ReadFile(i);
    if (status.ok()) files_done_.fetch_add(1, std::memory_order_relaxed);
  }
  const MutexLock lock(mu_);
  failure_ = std::move(status);
  ended_ = true;
  changed_.NotifyAll();
}

Status EpochReader::ReadFile(size_t index) {
  const std::string& path = files_[index];
  BRAID_TRY(const std::unique_ptr<transfer::Lines> lines, transfer::Lines::Open(path, kEpochBytesMax));
  EpochPlace place{.files_before = static_cast<int64_t>(index), .file = path == "-" ? "standard input" : path};
  {
    const MutexLock lock(mu_);
    if (closing_) return Status(Code::kInterrupted, "closed");
    lines_ = lines.get();
    position_ = place;
  }
  Status status;
  for (bool more = true; more && status.ok();) {
    const auto next = lines->Next();
    if (!next.ok()) {
      status =
          Status(next.error().code(), StrCat(next.error().message(), "; line ", place.line, " is the last whole one"));
    }
    more = next.ok() && !next->empty();
    for (size_t i = 0; more && status.ok() && i < next->size(); ++i) {
      place.line = lines->numbers()[i];
      if (to_skip_ > 0) {
        --to_skip_;
        continue;
      }
      status = ReadLine(place, (*next)[i]);
    }
  }
  const MutexLock lock(mu_);
  lines_ = nullptr;
  return status;
}

Status EpochReader::ReadLine(EpochPlace place, std::string_view line) {
  Result<Epoch> epoch = braid::explorer::ParseEpoch(line);
  if (!epoch.ok()) return Status(epoch.error().code(), StrCat(place.ToString(), ": ", epoch.error().message()));
  MutexLock lock(mu_);
  changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) {
    const bool room = ready_.epochs.size() < kReadyEpochsMax && ready_bytes_ + line.size() <= kReadyBytesMax;
    return closing_ || ready_.epochs.empty() || room;
  });
  if (closing_) return Status(Code::kInterrupted, "closed");
  position_ = place;
  ready_.epochs.push_back(*std::move(epoch));
  ready_.places.push_back(std::move(place));
  ready_bytes_ += line.size();
  changed_.NotifyAll();
  return {};
}

}  // namespace braid::cli::explorer
