// The stores that tests of patterns and services run on: each test runs on all of them (E5).
#pragma once

#include <memory>
#include <string>
#include <vector>

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

/// A fixture with a store: TEST_P(MyTest, …) and INSTANTIATE_ON_STORES(MyTest).
class StoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  TestStore store_{GetParam()};
};

#define INSTANTIATE_ON_STORES(fixture)                                                    \
  INSTANTIATE_TEST_SUITE_P(On, fixture, ::testing::ValuesIn(::braid::test::StoreKinds()), \
                           [](const auto& info) { return info.param; })

}  // namespace braid::test
