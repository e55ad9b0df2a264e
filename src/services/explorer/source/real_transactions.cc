// Transactions of real Ethereum blocks, as material for a chain.
#include <simdjson.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "base/strings.h"
#include "services/explorer/source/chain_generator.h"

namespace braid::explorer::source {
namespace {

Result<std::string> ReadPacked(const std::string& path) {
  struct CloseFile {
    void operator()(gzFile file) const { gzclose(file); }
  };
  const std::unique_ptr<gzFile_s, CloseFile> file(gzopen(path.c_str(), "rb"));
  std::string text;
  if (file == nullptr) return Status(Code::kBadValue, StrCat(path, " cannot be opened"));
  for (;;) {
    const size_t before = text.size();
    text.resize(before + (1 << 20));
    const int count = gzread(file.get(), text.data() + before, 1 << 20);
    text.resize(before + static_cast<size_t>(std::max(count, 0)));
    if (count < 0) return Status(Code::kBadValue, StrCat(path, " cannot be unpacked"));
    if (count == 0) return text;
  }
}

std::string FieldOf(simdjson::dom::element object, const char* name) {
  std::string_view text;
  return object[name].get_string().get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

MadeTransaction TransactionOf(simdjson::dom::element object) {
  return {.hash = FieldOf(object, "hash"),
          .from = FieldOf(object, "from"),
          .to = FieldOf(object, "to"),
          .value = FieldOf(object, "value"),
          .gas = FieldOf(object, "gas"),
          .gas_price = FieldOf(object, "gasPrice"),
          .nonce = FieldOf(object, "nonce"),
          .data = FieldOf(object, "input"),
          .r = FieldOf(object, "r"),
          .s = FieldOf(object, "s"),
          .v = FieldOf(object, "v")};
}

Status AppendFrom(const std::string& path, std::unordered_set<std::string>& seen, std::vector<TransactionPtr>& out) {
  BRAID_TRY(const std::string text, ReadPacked(path));
  simdjson::dom::parser parser;
  simdjson::dom::element block;
  simdjson::dom::array transactions;
  if (parser.parse(text).get(block) != simdjson::SUCCESS ||
      block["transactions"].get_array().get(transactions) != simdjson::SUCCESS) {
    return Status(Code::kBadValue, StrCat(path, " is not a block with transactions"));
  }
  for (const simdjson::dom::element element : transactions) {
    MadeTransaction transaction = TransactionOf(element);
    if (transaction.hash.size() != 66 || transaction.from.size() != 42) {
      return Status(Code::kBadValue, StrCat(path, " has a transaction without a hash or a sender"));
    }
    if (seen.insert(transaction.hash).second) {
      out.push_back(std::make_shared<const MadeTransaction>(std::move(transaction)));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<TransactionPtr>> ReadRealTransactions(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string path = entry.path().string();
    if (path.ends_with(".json.gz") || path.ends_with(".json")) paths.push_back(path);
  }
  if (error) return Status(Code::kBadValue, StrCat(directory, " cannot be read: ", error.message()));
  if (paths.empty()) return Status(Code::kBadValue, StrCat(directory, " has no *.json.gz and no *.json"));
  std::sort(paths.begin(), paths.end());
  std::unordered_set<std::string> seen;
  std::vector<TransactionPtr> transactions;
  for (const std::string& path : paths) BRAID_CHECK_OK(AppendFrom(path, seen, transactions));
  return transactions;
}

}  // namespace braid::explorer::source
