// A log that cannot be rewritten unseen: a hash chain per account, on a directory or on a cluster.
#include <braid/chains.h>
#include <braid/embedded.h>

#include <iostream>

using namespace braid;

static Status Run(const std::string& where) {
  BRAID_TRY(const auto store, OpenStore(where));
  BRAID_TRY(const auto chains, Chains::Open(*store, {.database = "example", .log = "transfers"}));
  // Sequences are given by the source. A record of both accounts is appended to both chains or to neither.
  const std::vector<ChainRecord> records = {{.chain = 1, .sequence = 1, .payload = "ann opens an account"},
                                            {.chain = 2, .sequence = 2, .payload = "bob opens an account"},
                                            {.chain = 1, .sequence = 3, .payload = "ann pays bob 5", .also = {2}}};
  BRAID_TRY(const std::vector<Appended> appended, chains->Append(records));
  for (const Appended& one : appended) BRAID_CHECK_OK(one.status);  // a stored record is acknowledged again

  BRAID_TRY(const std::vector<ChainHead> heads, chains->Heads());
  for (const ChainHead& head : heads) {
    std::cout << "account " << head.chain << ": " << head.records << " records, the newest is " << head.sequence
              << "\n";
  }
  BRAID_TRY(const VerifyReport report, chains->Verify({}));
  for (const ChainDamage& damage : report.damage) std::cout << damage.sequence << ": " << damage.what << "\n";
  std::cout << report.records << " records verified, " << report.damaged << " damaged\n";
  return store->Close();
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./chains-data");
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
