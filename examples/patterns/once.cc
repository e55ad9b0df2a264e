// Payments that are credited exactly once, however often a message about one comes, on a directory or on a cluster.
#include <braid/embedded.h>
#include <braid/once.h>

#include <iostream>

using namespace braid;

static Status Credit(Clients& store, const Once& once, const std::vector<std::string>& payments) {
  return RunTransaction(store, {.database = "example"}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(const auto claimed, once.Claim(transaction, payments));
    int64_t francs = 0;
    for (const Once::Claimed& payment : claimed) {
      if (payment.missing != 0) francs += 10;  // else it is a duplicate
    }
    const Transaction::Update credit{
        .filter = {{"_id", "ann"}}, .change = {{"$inc", {{"francs", francs}}}}, .upsert = true};
    return transaction.UpdateOne("accounts", credit).status();
  });
}

static Status Run(const std::string& where) {
  BRAID_TRY(const auto store, OpenStore(where));
  BRAID_TRY(const Once once, Once::Open({.database = "example", .collection = "paid", .calculations = {"credit"}}));
  BRAID_CHECK_OK(Credit(*store, once, {"payment-1", "payment-2", "payment-1"}));
  BRAID_CHECK_OK(Credit(*store, once, {"payment-2", "payment-3"}));
  std::optional<Document> account;
  BRAID_CHECK_OK(RunTransaction(*store, {.database = "example"}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(account, transaction.FindOne("accounts", {{"_id", "ann"}}));
    return {};
  }));
  BRAID_TRY(const int64_t francs, account->Get<int64_t>("francs"));
  std::cout << "ann has " << francs << " francs\n";
  return store->Close();
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./once-data");
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
