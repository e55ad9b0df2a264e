#include "cli/explorer/common.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/strings.h"
#include "cli/common_options.h"

namespace braid::cli::explorer {

using braid::explorer::At;
using braid::explorer::Explorer;
using braid::explorer::source::ChainOptions;
using braid::explorer::source::TransactionPtr;
using client::Bson;

void AddExplorerOptions(CLI::App& app, ExplorerCommon& common) {
  AddStoreOption(app, common.store);
  app.add_option("-d,--db", common.options.database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_flag("--json", common.json, "One JSON object on standard output; everything else goes to standard error.");
}

void AddAtOption(CLI::App& app, std::string& at) {
  app.add_option("--at", at,
                 "The hash of a pivot to read at: the answer is as of its epoch, or an error if it is no longer in the "
                 "chain. By default the newest.")
      ->type_name("PIVOT");
}

Result<OpenedExplorer> OpenExplorer(const ExplorerCommon& common, StoreUse use) {
  OpenedExplorer opened;
  BRAID_TRY(opened.clients, OpenStoreFor(common.store, use));
  BRAID_TRY(opened.explorer, Explorer::Open(*opened.clients, common.options));
  return opened;
}

std::string Describe(const At& at) {
  return at.epoch < 0 ? std::string("nothing imported yet") : StrCat("epoch ", at.epoch, " (", at.pivot, ")");
}

void AppendError(const Status& status, Bson& json) {
  if (status.ok()) return;
  Bson inside;
  inside.Text("code", CodeName(status.code())).Text("message", status.message());
  json.Document("error", inside);
}

Status PrintError(const ExplorerCommon& common, const Status& error) {
  if (!common.json) return error;
  Bson json;
  AppendError(error, json);
  client::PrintJson(json);
  return error;
}

std::string FieldText(const bson_t& document, const char* name) {
  bson_iter_t field;
  if (!bson_iter_init_find(&field, &document, name) || BSON_ITER_HOLDS_NULL(&field)) return "-";
  if (BSON_ITER_HOLDS_UTF8(&field)) return bson_iter_utf8(&field, nullptr);
  if (BSON_ITER_HOLDS_INT(&field)) return StrCat(bson_iter_as_int64(&field));
  // Anything else as JSON: {"0": …} without what is around the value.
  Bson alone;
  bson_append_iter(alone.get(), "0", 1, &field);
  char* text = bson_as_relaxed_extended_json(alone.get(), nullptr);
  std::string value(text == nullptr ? "" : text);
  bson_free(text);
  const size_t begin = value.find(':');
  const size_t end = value.rfind('}');
  if (begin == std::string::npos || end <= begin) return value;
  value = value.substr(begin + 1, end - begin - 1);
  value.erase(0, value.find_first_not_of(' '));
  value.erase(value.find_last_not_of(' ') + 1);
  return value;
}

void PrintFields(const bson_t& document) {
  size_t width = 0;
  bson_iter_t field;
  bson_iter_init(&field, &document);
  while (bson_iter_next(&field)) width = std::max(width, std::string_view(bson_iter_key(&field)).size());
  bson_iter_init(&field, &document);
  while (bson_iter_next(&field)) {
    fmt::print("{:<{}}  {}\n", bson_iter_key(&field), width, FieldText(document, bson_iter_key(&field)));
  }
}

void PrintTable(std::span<const char* const> columns, const std::vector<client::BsonPtr>& rows) {
  std::vector<std::vector<std::string>> lines(1);
  for (const char* column : columns) lines[0].emplace_back(column);
  for (const client::BsonPtr& row : rows) {
    std::vector<std::string>& line = lines.emplace_back();
    for (const char* column : columns) line.push_back(FieldText(*row, column));
  }
  std::vector<size_t> widths(columns.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) text += fmt::format("{:<{}}  ", line[i], widths[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    fmt::print("{}\n", text);
  }
}

void AddChainOptions(CLI::App& app, ChainArgs& args) {
  ChainOptions& options = args.options;
  app.add_option("--seed", options.seed, "The same seed and options make the same chain.")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--first", options.first_epoch, "The number of the first epoch.")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--switches", options.switch_percent, "Percent of the steps that replace the newest epochs.")
      ->check(CLI::Range(0, 90))
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--depth", options.switch_depth_max, "The most epochs that a switch replaces.")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--blocks", options.blocks_max, "The most blocks of an epoch.")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--transactions", options.transactions_max, "The most transactions of a block.")
      ->check(CLI::Range(0, 200'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--shared", options.shared_percent, "Percent of the transactions that an earlier block carries too.")
      ->check(CLI::Range(0, 90))
      ->type_name("P")
      ->capture_default_str();
  app.add_option("--accounts", options.accounts, "Accounts.")
      ->check(CLI::Range(1, 100'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--miners", options.miners, "Miners.")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--receipts-after", options.receipts_after,
                 "Number of epochs after which the receipts of a transaction arrive; 0: with it.")
      ->check(CLI::Range(0, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--from", args.from,
                 "Transactions of real Ethereum blocks come first: a directory of *.json.gz with one block each, as "
                 "JSON-RPC gives it.")
      ->type_name("DIR");
}

Result<std::vector<TransactionPtr>> RealTransactions(const ChainArgs& args) {
  if (args.from.empty()) return std::vector<TransactionPtr>();
  return braid::explorer::source::ReadRealTransactions(args.from);
}

}  // namespace braid::cli::explorer
