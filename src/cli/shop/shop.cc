// braid shop: the storefront.
#include <CLI/CLI.hpp>

#include "cli/shop/actions.h"

namespace braid::cli {
namespace shop {
namespace {

constexpr Subcommand kShopActions[] = {
    {"do", "Run operations, one JSON object per line, and print one result per line.", SetUpDo},
    {"import", "Import invoices of retail data as orders.", SetUpImport},
    {"report", "Revenue, best sellers, baskets and cancellations of a period.", SetUpReport},
};

}  // namespace
}  // namespace shop

Action SetUpShop(CLI::App& app) { return SetUpNested(app, shop::kShopActions); }

}  // namespace braid::cli
