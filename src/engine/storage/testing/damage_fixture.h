// A store on the real disk whose files a test damages between two starts.
#pragma once

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/storage/store.h"

namespace braid::storage {

namespace fs = std::filesystem;

inline std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline void WriteFile(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class DamageTest : public testing::Test {
 protected:
  static constexpr int kKeys = 100;

  void SetUp() override { Open(); }
  Status TryOpen(bool accept_loss = false) {
    store_.reset();
    auto opened = Store::Open({.directory = directory(), .cache_bytes = 32 << 20, .accept_loss = accept_loss});
    if (opened.ok()) store_ = std::move(*opened);
    return opened.status();
  }
  void Open() { ASSERT_OK(TryOpen()); }
  /// Each key is one commit and one sync.
  void Fill(size_t value_bytes = 1000) {
    Random random(1);
    for (int i = 0; i < kKeys; ++i) {
      std::string value(value_bytes, 'x');
      for (char& byte : value) byte = static_cast<char>(random.Next());
      Put(StrCat("key", i), value);
    }
  }
  void Put(const std::string& key, const std::string& value) {
    WriteSet writes(*store_);
    writes.Put(key, value);
    const auto position = store_->Commit(writes);
    ASSERT_OK(position);
    ASSERT_OK(store_->WaitDurable(*position));
  }
  int KeysFound() {
    int found = 0;
    const auto cursor = store_->NewCursor({"", ""}, {});
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++found;
    EXPECT_OK(cursor->status());
    return found;
  }
  /// The store as a killed process leaves it, without an orderly shutdown.
  void KillProcess() {
    const fs::path copy = parent_.path() / StrCat("killed", ++copies_);
    fs::copy(directory(), copy);
    store_.reset();
    directory_ = copy;
  }
  fs::path directory() const { return directory_; }
  /// The largest file whose name has this in it.
  fs::path File(std::string_view part) const {
    fs::path largest;
    for (const auto& file : fs::directory_iterator(directory())) {
      if (file.path().filename().string().find(part) == std::string::npos) continue;
      if (largest.empty() || file.file_size() > fs::file_size(largest)) largest = file.path();
    }
    return largest;
  }
  void ExpectRefused(const fs::path& damaged) {
    const Status status = TryOpen();
    EXPECT_EQ(status.code(), Code::kStorageCorrupt) << status.ToString();
    EXPECT_NE(status.message().find(damaged.filename().string()), std::string_view::npos) << status.message();
  }

  test::TemporaryDirectory parent_;
  fs::path directory_ = parent_.path() / "store";
  int copies_ = 0;
  std::unique_ptr<Store> store_;
};

/// The lines logged while it lives.
class LogLines {
 public:
  LogLines() : before_(spdlog::default_logger()) {
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(lines_);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", std::move(sink)));
  }
  ~LogLines() { spdlog::set_default_logger(before_); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  std::string text() const { return lines_.str(); }

 private:
  std::ostringstream lines_;
  const std::shared_ptr<spdlog::logger> before_;
};

}  // namespace braid::storage
