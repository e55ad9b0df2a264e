// The stores that tests of patterns and services run on: each test runs on all of them (E5); and a store that fails.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/testing/testing.h"
#include "braid/clients.h"

namespace braid::client {
class ServerProcess;
}

namespace braid::test {

/// "embedded": a directory in this process. "tcp": `braid serve` as a process of its own. "given": what the environment
/// variable BRAID_TEST_STORE names, a MongoDB replica set or sharded cluster for example; only if it is set.
std::vector<std::string> StoreKinds();

/// A store of one of the kinds, with a database of its own that is dropped at the end.
class TestStore {
 public:
  explicit TestStore(const std::string& kind);
  ~TestStore();
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;

  Clients& clients() { return *clients_; }
  const std::string& database() const { return database_; }
  /// What --store would be for another process; empty for an embedded store, which only this process can open.
  const std::string& uri() const { return uri_; }
  /// Closes the store and opens it again; a server of our own is killed in between as by kill -9.
  void Restart();

 private:
  void Open();

  const std::string kind_;
  const std::string database_;
  TemporaryDirectory directory_;
  std::string uri_;
  std::unique_ptr<client::ServerProcess> server_;
  std::unique_ptr<Clients> clients_;
};

/// Clients of a store that can be taken away and given back: meanwhile they connect to a port without a listener.
class FlakyClients final : public Clients {
 public:
  explicit FlakyClients(Clients& inner) : inner_(inner) {}
  void Fail(bool failing) { failing_ = failing; }
  void FailForGood() {
    failing_ = true;
    for_good_ = true;
  }
  bool MayRecover(const Status& /*error*/) const override { return !for_good_; }

 private:
  mongoc_client_t* Pop() override {
    if (failing_) return mongoc_client_new("mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=20");
    const MutexLock lock(mu_);
    lent_.push_back(inner_.Acquire());
    return lent_.back().get();
  }
  void Push(mongoc_client_t* client) override {
    const MutexLock lock(mu_);
    if (std::erase_if(lent_, [&](const Client& lent) { return lent.get() == client; }) == 0) {
      mongoc_client_destroy(client);
    }
  }

  Clients& inner_;
  std::atomic<bool> failing_ = false;
  std::atomic<bool> for_good_ = false;
  Mutex mu_;
  std::vector<Client> lent_ BRAID_GUARDED_BY(mu_);
};

/// A fixture with a store: TEST_P(MyTest, …) and INSTANTIATE_ON_STORES(MyTest).
class StoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  TestStore store_{GetParam()};
};

#define INSTANTIATE_ON_STORES(fixture)                                                    \
  INSTANTIATE_TEST_SUITE_P(On, fixture, ::testing::ValuesIn(::braid::test::StoreKinds()), \
                           [](const auto& info) { return info.param; })

}  // namespace braid::test
