// braid settlement: the log of a matching engine's outputs, and its maintenance. The options that its subcommands
// share, small files that they read and write, and times as text.
#include <fmt/chrono.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/settlement/actions.h"

namespace braid::cli {
namespace settlement {
namespace {

constexpr size_t kPieceBytes = 1u << 20;
constexpr int64_t kMillisMax = 253'402'300'799'999;  // the end of the year 9999

}  // namespace

void AddJsonOption(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "One JSON object on standard output; everything else goes to standard error.");
}

void AddCommonOptions(CLI::App& app, Common& common) {
  AddStoreOption(app, common.store);
  app.add_option("-d,--db", common.options.database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_option("--log", common.options.log, "Collection of the log; the names of the others begin with it.")
      ->type_name("NAME")
      ->capture_default_str();
  AddJsonOption(app, common.json);
}

Result<std::unique_ptr<Chains>> OpenLog(Clients& clients, const Common& common) {
  ChainsOptions options = common.options.ToChains();
  options.create = false;
  auto opened = Chains::Open(clients, options);
  if (opened.ok() || opened.error().code() != Code::kNamespaceNotFound) return opened;
  return Status(Code::kNamespaceNotFound,
                StrCat(opened.error().message(), "; --db and --log name them, and `ingest` makes them"));
}

namespace {

constexpr Subcommand kActions[] = {
    {"ingest", "Append outputs from files, standard input or engines over TCP.", SetUpIngest},
    {"verify", "Read every chain and report all damage.", SetUpVerify},
    {"recover", "Verify every chain, then update the views.", SetUpRecover},
    {"follow", "Keep the views up to date while others write the log.", SetUpFollow},
    {"stats", "Show records, newest output, halt and lease of each symbol, and the progress of each view.", SetUpStats},
    {"records", "Print the stored records, one per line.", SetUpRecords},
    {"balances", "Balances of users by asset, as of the views.", SetUpBalances},
    {"trades", "Trades by symbol, user and output.", SetUpTrades},
    {"orders", "Orders by user, symbol and status.", SetUpOrders},
    {"migrate", "Migrate from one chain over all symbols to one per symbol, while writers continue.", SetUpMigrate},
    {"repair", "Let a halted symbol accept outputs again.", SetUpRepair},
    {"keygen", "Make a pair of keys for checkpoints.", SetUpKeygen},
    {"checkpoint", "Sign the heads of all chains, or list the stored checkpoints.", SetUpCheckpoint},
    {"prove", "Prove that an output was in the log when a checkpoint was made.", SetUpProve},
    {"check-proof", "Check such a proof; needs no store.", SetUpCheckProof},
    {"generate", "Write generated outputs, one per line, to standard output.", SetUpGenerate},
};

}  // namespace

Result<std::string> ReadFile(const std::filesystem::path& path, size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(Code::kBadValue, StrCat("cannot read ", path.string(), ": ", strerror(errno)));
  std::string text;
  while (file && text.size() <= bytes_max) {
    const size_t size = text.size();
    text.resize(size + std::min(kPieceBytes, bytes_max + 1 - size));
    file.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    text.resize(size + static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return Status(Code::kBadValue, StrCat("cannot read ", path.string(), ": ", strerror(errno)));
  if (text.size() > bytes_max) {
    return Status(Code::kBadValue, StrCat(path.string(), " has more than ", bytes_max, " bytes"));
  }
  return text;
}

Status WriteFile(const std::string& path, std::string_view text) {
  FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Status(Code::kBadValue, StrCat("cannot write ", path, ": ", strerror(errno)));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file == stdout ? std::fflush(file) == 0 : std::fclose(file) == 0;
  if (!written || !closed) return Status(Code::kOutOfDiskSpace, StrCat("cannot write ", path, ": ", strerror(errno)));
  return {};
}

// What a store or a file says may be any number.
std::string Time(int64_t millis) {
  const int64_t known = std::clamp<int64_t>(millis, 0, kMillisMax);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(known / 1000)));
}

}  // namespace settlement

Action SetUpSettlement(CLI::App& app) { return SetUpNested(app, settlement::kActions); }

}  // namespace braid::cli
