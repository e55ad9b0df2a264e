// The JSON-RPC client against our node: batches, faults, errors for good, deadlines. And addresses of both kinds.
#include "services/explorer/source/rpc_client.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/strings.h"
#include "services/explorer/source/node_source.h"
#include "services/explorer/source/node_testing.h"

namespace braid::explorer::source {
namespace {

using ::testing::HasSubstr;

std::vector<RpcCall> BlockCalls(int64_t count) {
  std::vector<RpcCall> calls;
  for (int64_t i = 0; i < count; ++i) {
    calls.push_back({"cfx_getBlocksByEpoch", StrCat("[\"", ToHex(static_cast<uint64_t>(i)), "\"]")});
  }
  return calls;
}

TEST(RpcClientTest, BatchesAnswersAndOneConnection) {
  RunningNode running({.chain = {.seed = 5}, .epochs_at_start = 25});
  RpcOptions options = running.Rpc();
  options.batch_calls_max = 10;
  RpcClient client(options);
  const auto results = client.Call(BlockCalls(25));
  ASSERT_OK(results);
  ASSERT_EQ(results->size(), 25u);
  const std::vector<std::string> lines = running.node().Lines();
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string pivot = ParseEpoch(lines[i])->pivot_hash;
    EXPECT_THAT((*results)[i], ::testing::EndsWith(StrCat(pivot, "\"]")));
  }
  EXPECT_EQ(client.figures().requests, 3u);
  EXPECT_EQ(client.figures().retries, 0u);
}

TEST(RpcClientTest, EveryCallIsAnsweredInSpiteOfFaults) {
  RunningNode running({.chain = {.seed = test::Seed()}, .epochs_at_start = 200});
  const auto calm = RpcClient(running.Rpc()).Call(BlockCalls(200));
  ASSERT_OK(calm);
  running.node().SetFaults({.slow_percent = 20, .slow_ms = 3, .error_percent = 40});
  RpcOptions options = running.Rpc();
  options.batch_calls_max = 7;
  RpcClient client(options);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto results = client.Call(BlockCalls(200));
      ASSERT_OK(results);
      EXPECT_EQ(*results, *calm);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(client.figures().retries, 20u);
}

TEST(RpcClientTest, ARefusalIsNotTriedAgain) {
  RunningNode running({.epochs_at_start = 3});
  RpcClient client(running.Rpc());
  const RpcCall calls[] = {{"cfx_epochNumber"}, {"cfx_nothing"}};
  const Status status = client.Call(calls).status();
  EXPECT_EQ(status.code(), Code::kOperationFailed);
  EXPECT_EQ(status.message(), "cfx_nothing: the node answers with error -32601: the method does not exist");
  EXPECT_EQ(client.figures().requests, 1u);
}

TEST(RpcClientTest, NoAnswerInTime) {
  RunningNode running({.faults = {.slow_percent = 100, .slow_ms = 600'000}});
  RpcOptions options = running.Rpc();
  options.timeout = std::chrono::milliseconds(30);
  options.patience = std::chrono::milliseconds(60);
  RpcClient client(options);
  const RpcCall call{"cfx_epochNumber"};
  EXPECT_EQ(client.Call(std::span(&call, 1)).status().code(), Code::kNetworkTimeout);
  EXPECT_GT(client.figures().retries, 0u);
}

TEST(RpcClientTest, StopEndsAWait) {
  RunningNode running({.faults = {.slow_percent = 100, .slow_ms = 600'000}});
  std::atomic<bool> stop = false;
  RpcOptions options = running.Rpc();
  options.timeout = std::chrono::hours(1);
  options.stop = &stop;
  RpcClient client(options);
  std::thread stopper([&] {
    while (client.figures().requests == 0) std::this_thread::yield();
    stop = true;
  });
  const RpcCall call{"cfx_epochNumber"};
  EXPECT_EQ(client.Call(std::span(&call, 1)).status().code(), Code::kInterrupted);
  stopper.join();
}

TEST(RpcClientTest, NobodyListens) {
  RpcOptions options;
  {
    RunningNode running(NodeOptions{});
    options = running.Rpc();
  }
  options.patience = std::chrono::milliseconds(20);
  RpcClient client(options);
  const RpcCall call{"cfx_epochNumber"};
  const Status status = client.Call(std::span(&call, 1)).status();
  EXPECT_EQ(status.code(), Code::kHostUnreachable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot connect"));
}

TEST(HttpAddressTest, PartsOfAUrl) {
  const auto address = ParseHttpAddress("https://us%65r:p%40ss@node.example:8443/rpc?key=1#part");
  ASSERT_OK(address);
  EXPECT_TRUE(address->tls);
  EXPECT_EQ(address->authorization, "user:p@ss");
  EXPECT_EQ(address->host, "node.example");
  EXPECT_EQ(address->port, 8443);
  EXPECT_EQ(address->target, "/rpc?key=1");
  EXPECT_EQ(address->ToString(), "https://node.example:8443/rpc?key=1");
  EXPECT_EQ(ParseHttpAddress("http://[::1]:12537")->host, "::1");
  EXPECT_EQ(ParseHttpAddress("http://[::1]")->port, 80);
  EXPECT_EQ(ParseHttpAddress("https://a")->port, 443);
  for (const char* wrong : {"", "node:80", "ftp://a", "http://", "http://a:0", "http://a:x", "http://a:99999",
                            "http://a b", "http://u%4@a", "http:///path", "http://a\r\nb"}) {
    EXPECT_EQ(ParseHttpAddress(wrong).status().code(), Code::kBadValue) << wrong;
  }
}

// The examples of CIP-37.
TEST(ConfluxAddressTest, Base32BecomesHexadecimal) {
  const char* contract = "0x85d80245dc02f5a89589e1f19c5c718e405b56cd";
  EXPECT_EQ(*AddressInHex("cfx:acc7uawf5ubtnmezvhu9dhc6sghea0403y2dgpyfjp"), contract);
  EXPECT_EQ(*AddressInHex("cfxtest:acc7uawf5ubtnmezvhu9dhc6sghea0403ywjz6wtpg"), contract);
  EXPECT_EQ(*AddressInHex("cfxtest:type.contract:acc7uawf5ubtnmezvhu9dhc6sghea0403ywjz6wtpg"), contract);
  EXPECT_EQ(*AddressInHex("CFX:TYPE.USER:AARC9ABYCUE0HHZGYRR53M6CXEDGCCRMMYYBJGH4XG"),
            "0x1a2f80341409639ea6a35bbcab8299066109aa55");
  EXPECT_EQ(*AddressInHex(contract), contract);
  EXPECT_THAT(std::string(AddressInHex("cfx:acc7uawf5ubtnmezvhu9dhc6sghea0403y2dgpyfjr").status().message()),
              HasSubstr("has a wrong checksum"));
  EXPECT_THAT(std::string(AddressInHex("cfx:acc7uawf5ubtnmezvhu9dhc6sghea0403y2dgpyfj").status().message()),
              HasSubstr("has the wrong length"));
  EXPECT_THAT(std::string(AddressInHex("cfx:acc7uawf5ubtnmezvhu9dhc6sghea0403y2dgpyfji").status().message()),
              HasSubstr("is not base32"));
}

}  // namespace
}  // namespace braid::explorer::source
