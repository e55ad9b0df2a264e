// braid export: the documents of a collection into a JSON or CSV file, with the options of mongoexport.
#include <string.h>

#include <CLI/CLI.hpp>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/subcommands.h"
#include "cli/transfer/exporter.h"
#include "cli/transfer/progress.h"
#include "client/handles.h"

namespace braid::cli {
namespace {

struct ExportArgs {
  std::string store = "./data";
  std::string type = "json";
  std::string json_format = "relaxed";
  std::string fields;
  std::string field_file;
  std::string query_file;
  std::string out;
  bool no_header_line = false;
  bool quiet = false;
  transfer::ExportOptions options;
};

void AddExportOptions(CLI::App& app, ExportArgs& args) {
  transfer::ExportOptions& options = args.options;
  options.database = "test";
  AddStoreOption(app, args.store);
  AddNamespaceOptions(app, options.database, options.collection);
  app.add_option("-o,--out", args.out, "File to write; standard output by default.")->type_name("FILE");
  app.add_option("--type", args.type, "json or csv.")->check(CLI::IsMember({"csv", "json"}))->capture_default_str();
  app.add_option("--jsonFormat", args.json_format,
                 "relaxed: numbers and dates are easy to read; canonical: every type is kept exactly.")
      ->check(CLI::IsMember({"canonical", "relaxed"}))
      ->capture_default_str();
  app.add_flag("--jsonArray", options.json_array, "One array of documents instead of one document per line.");
  app.add_flag("--pretty", options.pretty, "Spreads documents over lines.");
  app.add_option("-f,--fields", args.fields,
                 "Fields to write, separated by commas; a dot selects a nested field: address.city.")
      ->type_name("LIST");
  app.add_option("--fieldFile", args.field_file, "A file with the names of the fields, one per line.")
      ->type_name("FILE");
  app.add_flag("--noHeaderLine", args.no_header_line, "Writes CSV without the header line.");
  CLI::Option* query = app.add_option("-q,--query", options.query, "Only these documents: a filter in Extended JSON.")
                           ->type_name("JSON");
  app.add_option("--queryFile", args.query_file, "A file with the filter.")->type_name("FILE")->excludes(query);
  app.add_option("--sort", options.sort, "Order, such as {\"age\": -1}.")->type_name("JSON");
  app.add_option("--skip", options.skip, "Number of documents to skip.")->check(CLI::NonNegativeNumber)->type_name("N");
  app.add_option("--limit", options.limit, "The most documents to write; 0: all.")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  app.add_flag("--quiet", args.quiet, "No progress and no summary.");
}

Status PrepareExport(ExportArgs& args) {
  transfer::ExportOptions& options = args.options;
  if (options.collection.empty()) return Status(Code::kBadValue, "say which collection: --collection NAME");
  options.csv = args.type == "csv";
  options.header_line = !args.no_header_line;
  options.json_format =
      args.json_format == "canonical" ? transfer::JsonFormat::kCanonical : transfer::JsonFormat::kRelaxed;
  BRAID_TRY(options.fields, ReadFields(args.fields, args.field_file));
  if (options.csv && options.fields.empty()) {
    return Status(Code::kBadValue, "CSV needs to know its columns: --fields name,address.city or --fieldFile FILE");
  }
  if (options.csv && (options.json_array || options.pretty)) {
    return Status(Code::kBadValue, "--jsonArray and --pretty are for --type json");
  }
  if (!args.query_file.empty()) {
    BRAID_TRY(options.query, ReadWholeFile(args.query_file));
  }
  options.stop = &StopOnInterrupt();
  options.on_failure = [](std::string_view reason) { transfer::PrintLine(std::string(reason)); };
  return {};
}

Result<bool> Exists(Clients& clients, const transfer::ExportOptions& options) {
  const Client client = clients.Acquire();
  const client::DatabasePtr database(mongoc_client_get_database(client.get(), options.database.c_str()));
  bson_error_t error{};
  const bool exists = mongoc_database_has_collection(database.get(), options.collection.c_str(), &error);
  if (!exists && error.code != 0) return client::FromError(error);
  return exists;
}

Status Write(ExportArgs& args, Clients& clients, FILE* out, transfer::ExportCounts& counts) {
  const transfer::ExportOptions& options = args.options;
  const transfer::Progress progress(
      [&] { return StrCat(options.database, ".", options.collection, ": ", counts.exported.load(), " document(s)"); },
      args.quiet);
  return transfer::Export(clients, options, out, counts);
}

Status RunExport(ExportArgs& args) {
  BRAID_CHECK_OK(PrepareExport(args));
  const transfer::ExportOptions& options = args.options;
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.store, StoreUse::kRead));
  BRAID_TRY(const bool exists, Exists(*clients, options));
  if (!exists) {
    transfer::PrintLine(StrCat("there is no collection ", options.database, ".", options.collection, " in ", args.store,
                               ": check --store, --db and --collection"));
  }
  FILE* out = args.out.empty() ? stdout : std::fopen(args.out.c_str(), "wb");
  if (out == nullptr) return Status(Code::kBadValue, StrCat("cannot write ", args.out, ": ", strerror(errno)));
  transfer::ExportCounts counts;
  Status status = Write(args, *clients, out, counts);
  if (out != stdout && std::fclose(out) != 0 && status.ok()) {
    status = Status(Code::kOutOfDiskSpace, StrCat("cannot write ", args.out, ": ", strerror(errno)));
  }
  std::string summary = StrCat("exported ", counts.exported.load(), " record(s)");
  if (counts.failed.load() > 0) summary += StrCat(", ", counts.failed.load(), " failed");
  if (!status.ok()) return Status(status.code(), StrCat(status.message(), "\n", summary));
  if (options.stop->load()) return Status(Code::kInterrupted, StrCat("interrupted\n", summary));
  if (counts.failed.load() > 0) return Status(Code::kOperationFailed, summary);
  if (!args.quiet) transfer::PrintLine(summary);
  return {};
}

}  // namespace

Action SetUpExport(CLI::App& app) {
  const auto args = std::make_shared<ExportArgs>();
  AddExportOptions(app, *args);
  return [args] { return RunExport(*args); };
}

}  // namespace braid::cli
