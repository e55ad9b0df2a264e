// braid settlement records: what is stored, one record per line, with the fields of C1.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <optional>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "client/handles.h"
#include "services/settlement/json.h"

namespace braid::cli::settlement {
namespace {

struct RecordsArgs {
  Common common;
  std::optional<int64_t> symbol;
  int64_t from = 1;
  int64_t to = std::numeric_limits<int64_t>::max();
  int64_t limit = std::numeric_limits<int64_t>::max();
};

/// Writes records to standard output until there are enough.
class Printer {
 public:
  explicit Printer(const RecordsArgs& args) : args_(args) {}

  /// False if no more are wanted.
  Result<bool> Print(const ChainRecordView& record) {
    if (record.sequence > args_.to || printed_ >= args_.limit) return false;
    BRAID_TRY(const std::string line, RecordLine(parser_, record));
    if (args_.common.json) BRAID_CHECK_OK(Write(printed_ == 0 ? "{\"records\":[" : ","));
    BRAID_CHECK_OK(Write(line));
    BRAID_CHECK_OK(Write(args_.common.json ? "" : "\n"));
    return ++printed_ < args_.limit;
  }

  Status End() {
    if (args_.common.json) BRAID_CHECK_OK(Write(printed_ == 0 ? "{\"records\":[]}\n" : "]}\n"));
    return std::fflush(stdout) == 0 ? Status() : NotWritten();
  }

 private:
  static Status NotWritten() { return Status(Code::kOutOfDiskSpace, "cannot write to standard output"); }
  static Status Write(std::string_view text) {
    client::MarkJsonPrinted();
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? Status() : NotWritten();
  }

  const RecordsArgs& args_;
  braid::settlement::OutputParser parser_;
  int64_t printed_ = 0;
};

// All symbols in the order of outputs; Merge() has no other way to end than an error.
Status PrintAll(Chains& chains, int64_t from, Printer& printer) {
  bool enough = false;
  const Status status = chains.Merge(from, [&](const ChainRecordView& record) -> Status {
    BRAID_TRY(const bool more, printer.Print(record));
    enough = !more;
    return enough ? Status(Code::kInterrupted, "enough") : Status();
  });
  return enough ? Status() : status;
}

Status RunRecords(const RecordsArgs& args) {
  const Patience patience(args.common.store, {});
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.common.store, StoreUse::kRead));
  BRAID_TRY(const std::unique_ptr<Chains> chains, OpenLog(*clients, args.common));
  Printer printer(args);
  if (args.symbol) {
    BRAID_CHECK_OK(
        chains->Read(*args.symbol, args.from, [&](const ChainRecordView& record) { return printer.Print(record); }));
  } else {
    BRAID_CHECK_OK(PrintAll(*chains, args.from, printer));
  }
  return printer.End();
}

}  // namespace

Action SetUpRecords(CLI::App& app) {
  const auto args = std::make_shared<RecordsArgs>();
  AddCommonOptions(app, args->common);
  app.add_option("--symbol", args->symbol, "Only this symbol; all by default, in the order of outputs.")
      ->type_name("S");
  const auto number = [&app](const char* name, int64_t& value, const char* help) {
    app.add_option(name, value, help)->check(CLI::Range(int64_t{1}, INT64_MAX));
    return app.get_option(name);
  };
  number("--from", args->from, "The first output_seq.")->type_name("SEQ")->capture_default_str();
  number("--to", args->to, "The last output_seq.")->type_name("SEQ");
  number("--limit", args->limit, "The most records to print.")->type_name("N");
  return [args] { return RunRecords(*args); };
}

}  // namespace braid::cli::settlement
