#include "engine/storage/failures.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/system_clock.h>

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
    std::lock_guard lock(mu_);
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
    std::lock_guard lock(mu_);
    syncer_ = syncer;
    early = early_;
  }
  if (!early.ok()) syncer->Fail(early);
}

Status ReadStatus(const rocksdb::Status& status, Syncer& syncer) {
  if (status.ok()) return {};
  const Status error = Translate(status, "cannot read");
  if (status.IsCorruption()) syncer.Fail(error);
  return error;
}

}  // namespace braid::storage
