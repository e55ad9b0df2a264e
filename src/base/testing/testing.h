// What tests share: ASSERT_OK, a printed seed, a temporary directory.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "base/random.h"
#include "base/sanitized.h"
#include "braid/status.h"

#define BRAID_EXPECT_OK_WITH(macro, ...)                                               \
  do {                                                                                 \
    const auto& braid_outcome = (__VA_ARGS__);                                         \
    macro(braid_outcome.ok()) << ::braid::internal::ErrorOf(braid_outcome).ToString(); \
  } while (false)
#define ASSERT_OK(...) BRAID_EXPECT_OK_WITH(ASSERT_TRUE, __VA_ARGS__)
#define EXPECT_OK(...) BRAID_EXPECT_OK_WITH(EXPECT_TRUE, __VA_ARGS__)

namespace braid::test {

/// The seed of this run: BRAID_SEED if set, else random. Printed beside the test's failure, so that it can be replayed.
uint64_t Seed();

/// How often a test does something: less often under a sanitizer, which takes ten times as long for each.
constexpr int Rounds(int full, int sanitized) { return kSanitized ? sanitized : full; }

/// A directory of the test's own, removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace braid::test
