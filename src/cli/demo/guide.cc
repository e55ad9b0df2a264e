#include "cli/demo/guide.h"

#include "base/strings.h"

namespace braid::cli::demo {
namespace {

struct ShellCommand {
  const char* database;
  const char* script;
};

constexpr ShellCommand kShellCommands[] = {
    {"shop", "db.orders.find({}, { _id: 0, order_id: 1, user_id: 1, total_amount: 1 }).sort({ _id: -1 }).limit(3)"},
    {"shop", R"(db.orders.find({ user_id: "ada-0" }).explain().queryPlanner.winningPlan.stage)"},
    {"demo", "db.events.find({}, { _id: 0, text: 1 }).sort({ at: -1 }).limit(5)"},
};

constexpr const char* kPaths[] = {"/v1/stats", "/v1/reorgs?limit=3", "/v1/products?category=flash-sale&limit=1"};

}  // namespace

std::string Guide(const GuideInput& input) {
  std::string text =
      StrCat("\nThe Braid demo runs: four services with a gentle load, on ",
             input.temporary ? "a store that is removed at the end" : "a store that stays", " (", input.store, ").\n");
  for (const std::string& remark : input.remarks) text += StrCat(remark, "\n");
  text += StrCat("\nOpen in a browser:  http://", input.http_address, "/\n", "Every HTTP route:   http://",
                 input.http_address, "/docs\n\nAsk with mongosh:\n");
  for (const ShellCommand& command : kShellCommands) {
    text += StrCat("  mongosh --quiet mongodb://", input.address, "/", command.database, " --eval '", command.script,
                   "'\n");
  }
  text += "\nAsk with curl:\n";
  for (const char* path : kPaths) text += StrCat("  curl -s 'http://", input.http_address, path, "'\n");
  text += StrCat("\nStop with Ctrl-C", input.temporary ? "; --store DIR would keep the data.\n" : ".\n");
  return text;
}

}  // namespace braid::cli::demo
