#include "base/testing/testing.h"

#include <cstdlib>

namespace braid::test {
namespace {
// Prints the seed after each failed test, so that the failure can be replayed.
class SeedPrinter : public testing::EmptyTestEventListener {
 public:
  explicit SeedPrinter(uint64_t seed) : seed_(seed) {}
  void OnTestEnd(const testing::TestInfo& info) override {
    if (info.result()->Failed()) std::printf("replay with BRAID_SEED=%llu\n", static_cast<unsigned long long>(seed_));
  }

 private:
  uint64_t seed_;
};
}  // namespace

uint64_t Seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("BRAID_SEED");
    const uint64_t chosen = given != nullptr ? std::strtoull(given, nullptr, 10) : RandomSeed();
    testing::UnitTest::GetInstance()->listeners().Append(new SeedPrinter(chosen));
    return chosen;
  }();
  return seed;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "braid-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) std::abort();
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace braid::test
