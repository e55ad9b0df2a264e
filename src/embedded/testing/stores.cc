#include "embedded/testing/stores.h"

#include <cstdlib>

#include "base/assert.h"
#include "base/strings.h"
#include "braid/embedded.h"
#include "client/handles.h"
#include "client/server_process.h"

namespace braid::test {
namespace {

constexpr const char* kGiven = "BRAID_TEST_STORE";

std::string UniqueName() { return StrCat("braid_test_", RandomSeed() % 1'000'000'000); }

}  // namespace

std::vector<std::string> StoreKinds() {
  std::vector<std::string> kinds = {"embedded", "tcp"};
  if (std::getenv(kGiven) != nullptr) kinds.emplace_back("given");
  return kinds;
}

TestStore::TestStore(const std::string& kind) : kind_(kind), database_(UniqueName()) { Open(); }

void TestStore::Open() {
  if (kind_ == "embedded") {
    auto embedded = Embedded::Open({.directory = directory_.path().string(), .cache_bytes = 64 << 20});
    BRAID_ASSERT(embedded.ok());
    clients_ = *std::move(embedded);
    return;
  }
  if (kind_ == "tcp") {
    auto started = client::ServerProcess::Start({.directory = directory_.path().string(), .program = BRAID_PROGRAM});
    BRAID_ASSERT(started.ok());
    server_ = *std::move(started);
    uri_ = server_->uri();
  } else {
    uri_ = std::getenv(kGiven);
  }
  auto connected = Clients::Connect(uri_);
  BRAID_ASSERT(connected.ok());
  clients_ = *std::move(connected);
}

void TestStore::Restart() {
  clients_.reset();
  if (server_ != nullptr) server_->Kill();
  server_.reset();
  Open();
}

TestStore::~TestStore() {
  client::Bson drop;
  drop.Integer("dropDatabase", 1);
  client::RunCommand(clients_->Acquire().get(), database_.c_str(), drop.get()).Ignore("the directory goes anyway");
}

}  // namespace braid::test
