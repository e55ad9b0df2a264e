// The chains of the settlement log: where each one is, and whether every record is what it was when it was written.
#include <braid/chains.h>
#include <braid/embedded.h>

#include <cstdio>

using namespace braid;

static Status Run(const std::string& where) {
  BRAID_TRY(const auto store, OpenStore(where));
  BRAID_TRY(const auto chains, Chains::Open(*store, {.database = "settlement", .create = false}));
  BRAID_TRY(const std::vector<ChainHead> heads, chains->Heads());
  for (const ChainHead& head : heads) {
    std::printf("symbol %lld: %lld records, the newest is output %lld\n", static_cast<long long>(head.chain),
                static_cast<long long>(head.records), static_cast<long long>(head.sequence));
  }
  BRAID_TRY(const VerifyReport report, chains->Verify({}));
  for (const ChainDamage& damage : report.damage) {
    std::printf("symbol %lld, output %lld: %s\n", static_cast<long long>(damage.chain),
                static_cast<long long>(damage.sequence), damage.what.c_str());
  }
  std::printf("%lld records verified, %lld damaged\n", static_cast<long long>(report.records),
              static_cast<long long>(report.damaged));
  return {};
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./data");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
