#include "engine/storage/failures.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/system_clock.h>

#include "base/mutex.h"
#include "base/strings.h"
#include "engine/storage/options.h"
#include "engine/storage/syncer.h"

namespace braid::storage {
namespace {

std::string_view Doing(rocksdb::BackgroundErrorReason reason) {
  switch (reason) {
    case rocksdb::BackgroundErrorReason::kFlush:
    case rocksdb::BackgroundErrorReason::kFlushNoWAL: return "cannot write a table file";
    case rocksdb::BackgroundErrorReason::kCompaction: return "cannot compact table files";
    case rocksdb::BackgroundErrorReason::kManifestWrite:
    case rocksdb::BackgroundErrorReason::kManifestWriteNoWAL: return "cannot write the manifest";
    default: return "cannot write";
  }
}

/// For some damage of a table RocksDB names the manifest that lists it. Empty if no table is damaged.
std::string DamagedTable(const rocksdb::Options& options, const std::string& directory) {
  std::vector<std::string> names;
  if (!options.env->GetChildren(directory, &names).ok()) return "";
  for (const std::string& name : names) {
    if (!name.ends_with(".sst")) continue;
    const std::string path = StrCat(directory, "/", name);
    const rocksdb::Status opened = rocksdb::SstFileReader(options).Open(path);
    if (opened.IsCorruption()) return StrCat("; the table ", path, " is damaged");
  }
  return "";
}

class Clock final : public rocksdb::SystemClockWrapper {
 public:
  explicit Clock(std::shared_ptr<const FailureListener> failures)
      : SystemClockWrapper(rocksdb::SystemClock::Default()), failures_(std::move(failures)) {}
  const char* Name() const override { return "braid.clock"; }
  void SleepForMicroseconds(int micros) override {
    if (!failures_->failed()) target_->SleepForMicroseconds(micros);
  }

 private:
  const std::shared_ptr<const FailureListener> failures_;
};

class StoreEnv final : public rocksdb::EnvWrapper {
 public:
  StoreEnv(const std::shared_ptr<rocksdb::FileSystem>& files, std::shared_ptr<const FailureListener> failures)
      : EnvWrapper(rocksdb::NewCompositeEnv(files)) {
    system_clock_ = std::make_shared<Clock>(std::move(failures));
  }
  const char* Name() const override { return "braid.env"; }
};

}  // namespace

std::unique_ptr<rocksdb::Env> NewEnv(const std::shared_ptr<rocksdb::FileSystem>& files,
                                     std::shared_ptr<const FailureListener> failures) {
  return std::make_unique<StoreEnv>(files, std::move(failures));
}

void FailureListener::OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) {
  failed_ = true;
  const Status why = Translate(*error, Doing(reason));
  Syncer* syncer = nullptr;
  {
    const MutexLock lock(mu_);
    syncer = syncer_;
    if (syncer == nullptr && early_.ok()) early_ = why;
  }
  if (syncer != nullptr) syncer->Fail(why);
}

void FailureListener::OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                                           bool* recover) {
  *recover = false;
}

void FailureListener::Attach(Syncer* syncer) {
  Status early;
  {
    const MutexLock lock(mu_);
    syncer_ = syncer;
    early = early_;
  }
  if (!early.ok()) syncer->Fail(early);
}

Status OpenFailure(const rocksdb::Options& options, const std::string& directory, const rocksdb::Status& status) {
  std::string text = StrCat("cannot open the store in ", directory, ": ", status.ToString());
  if (!status.IsCorruption() && !status.IsPathNotFound()) return Translate(status, text);
  // RocksDB looks for a missing table under its old extension last, and its error names that.
  if (const size_t at = text.find(".ldb:"); at != std::string::npos) text.replace(at, 5, ".sst:");
  if (text.find(".sst") == std::string::npos) text += DamagedTable(options, directory);
  return {Code::kStorageCorrupt, std::move(text)};
}

Status ReadStatus(const rocksdb::Status& status, Syncer& syncer) {
  if (status.ok()) return {};
  const Status error = Translate(status, "cannot read");
  if (status.IsCorruption()) syncer.Fail(error);
  return error;
}

}  // namespace braid::storage
