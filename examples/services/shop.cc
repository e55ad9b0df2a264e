// A sale and a stock that always belong together, because they are read in one transaction.
#include <braid/embedded.h>
#include <braid/transaction.h>

#include <iostream>

using namespace braid;

static Status Run(const std::string& where) {
  BRAID_TRY(const auto store, OpenStore(where));
  return RunTransaction(*store, {.database = "shop"}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(const std::optional<Document> product, transaction.FindOne("products", {{"_id", "P1"}}));
    const int64_t left = product ? product->GetOr<int64_t>("stock_by_geo.0.qty", 0) : 0;
    int64_t sold = 0;
    const Document orders{{"user_id", "ann"}, {"items.product_id", "P1"}};
    BRAID_CHECK_OK(transaction.Find("orders", orders, [&](const Document& order) {
      sold += order.GetOr<int64_t>("items.0.qty", 0);
      return Status();
    }));
    std::cout << sold << " sold to ann, " << left << " left\n";
    return {};
  });
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./data");
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
