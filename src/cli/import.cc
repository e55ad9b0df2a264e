// braid import: documents of a JSON, CSV or TSV file into a collection, with the options of mongoimport.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/subcommands.h"
#include "cli/transfer/importer.h"
#include "cli/transfer/progress.h"
#include "client/handles.h"

namespace braid::cli {
namespace {

using transfer::ImportMode;
using transfer::ParseGrace;

struct ImportArgs {
  std::string store = "./data";
  std::string file = "-";
  std::string type;
  std::string fields;
  std::string field_file;
  std::string upsert_fields;
  std::string mode = "insert";
  std::string grace = "stop";
  bool header_line = false;
  bool json_array = false;
  bool drop = false;
  bool quiet = false;
  transfer::TableOptions table;
  transfer::ImportOptions import;
};

void AddFileOptions(CLI::App& app, ImportArgs& args) {
  app.add_option("file,--file", args.file, "File to read, packed with gzip or not; - is standard input.")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--type", args.type, "json, csv or tsv; by default taken from the file's extension, else json.")
      ->check(CLI::IsMember({"csv", "json", "tsv"}));
  app.add_flag("--jsonArray", args.json_array,
               "The file is one array of documents. It is also detected without this option.");
  app.add_flag("--headerline", args.header_line, "The first line of a CSV or TSV file names the fields.");
  app.add_option("-f,--fields", args.fields, "Names of the fields of a CSV or TSV file, separated by commas.")
      ->type_name("LIST");
  app.add_option("--fieldFile", args.field_file, "A file with the names of the fields, one per line.")
      ->type_name("FILE");
  app.add_flag("--columnsHaveTypes", args.table.typed,
               "Names are followed by types: name.string(),age.int32(),born.date(2006-01-02). The types: auto, binary, "
               "boolean, date, date_go, date_ms, date_oracle, decimal, double, int32, int64, string.");
  app.add_option("--parseGrace", args.grace,
                 "How to treat a value that is not of its type: autoCast, skipField, skipRow or stop (the default).")
      ->check(CLI::IsMember({"autoCast", "skipField", "skipRow", "stop"}));
  app.add_flag("--ignoreBlanks", args.table.ignore_blanks, "Leaves out fields with an empty value in CSV and TSV.");
}

void AddImportOptions(CLI::App& app, ImportArgs& args) {
  transfer::ImportOptions& options = args.import;
  options.database = "test";
  AddStoreOption(app, args.store);
  AddNamespaceOptions(app, options.database, options.collection);
  AddFileOptions(app, args);
  app.add_flag("--drop", args.drop, "Drops the collection first.");
  app.add_option("--mode", args.mode, "insert; upsert: replace or insert; merge: set fields or insert; delete.")
      ->check(CLI::IsMember({"delete", "insert", "merge", "upsert"}))
      ->capture_default_str();
  app.add_option("--upsertFields", args.upsert_fields, "Fields that identify a document; _id by default.")
      ->type_name("LIST");
  app.add_flag("--stopOnError", options.stop_on_error, "Ends at the first document that fails.");
  app.add_flag("--maintainInsertionOrder", options.keep_order,
               "Keeps the order of the file; ends at the first failure.");
  app.add_option("--batchSize", options.batch_size, "Documents a request.")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("-j,--numInsertionWorkers", options.workers, "Connections that write at the same time.")
      ->check(CLI::Range(1, 256))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--writeConcern", options.write_concern,
                 "majority, a number, or a document such as {\"w\": 1, \"j\": true}.")
      ->type_name("CONCERN");
  app.add_flag("--quiet", args.quiet, "No progress and no summary; failures are still reported.");
}

// The type by the end of the name, a .gz behind it aside.
std::string TypeOf(const ImportArgs& args) {
  if (!args.type.empty()) return args.type;
  std::filesystem::path path = args.file;
  if (path.extension() == ".gz") path = path.stem();
  if (path.extension() == ".csv") return "csv";
  return path.extension() == ".tsv" ? "tsv" : "json";
}

ParseGrace GraceOf(const std::string& name) {
  if (name == "autoCast") return ParseGrace::kAutoCast;
  if (name == "skipField") return ParseGrace::kSkipField;
  return name == "skipRow" ? ParseGrace::kSkipRow : ParseGrace::kStop;
}

ImportMode ModeOf(const std::string& name) {
  if (name == "upsert") return ImportMode::kUpsert;
  if (name == "merge") return ImportMode::kMerge;
  return name == "delete" ? ImportMode::kDelete : ImportMode::kInsert;
}

Result<std::unique_ptr<transfer::Reader>> OpenReader(ImportArgs& args, std::unique_ptr<transfer::Input> input) {
  const std::string type = TypeOf(args);
  BRAID_TRY(args.table.fields, ReadFields(args.fields, args.field_file));
  if (type == "json") {
    if (args.header_line || !args.table.fields.empty() || args.table.typed) {
      return Status(Code::kBadValue,
                    "--headerline, --fields, --fieldFile and --columnsHaveTypes are for CSV and TSV; "
                    "if the file is one of these, add --type csv or --type tsv");
    }
    return transfer::NewJsonReader(std::move(input));
  }
  if (args.json_array) return Status(Code::kBadValue, StrCat("--jsonArray is for --type json, this file is ", type));
  if (args.header_line == !args.table.fields.empty()) {
    return Status(Code::kBadValue,
                  "a CSV or TSV file needs the names of its fields: --headerline if its first line has "
                  "them, else --fields or --fieldFile");
  }
  args.table.separator = type == "csv" ? ',' : '\t';
  args.table.grace = GraceOf(args.grace);
  return transfer::NewTableReader(std::move(input), args.table);
}

Status PrepareImport(ImportArgs& args) {
  transfer::ImportOptions& options = args.import;
  if (options.collection.empty() && args.file != "-") {
    std::filesystem::path path = args.file;
    if (path.extension() == ".gz") path = path.stem();
    options.collection = path.stem().string();
  }
  if (options.collection.empty()) return Status(Code::kBadValue, "say which collection: --collection NAME");
  options.mode = ModeOf(args.mode);
  BRAID_TRY(std::vector<std::string> fields, ReadFields(args.upsert_fields, ""));
  if (!fields.empty() && options.mode == ImportMode::kInsert) {
    return Status(Code::kBadValue, "--upsertFields needs --mode upsert, merge or delete");
  }
  if (!fields.empty()) options.upsert_fields = std::move(fields);
  if (!options.write_concern.empty()) BRAID_CHECK_OK(transfer::ParseWriteConcern(options.write_concern));
  options.stop = &StopOnInterrupt();
  options.on_failure = [](uint64_t line, std::string_view reason) {
    transfer::PrintLine(StrCat("line ", line, ": ", reason));
  };
  return {};
}

std::string Summary(const ImportArgs& args, const transfer::ImportCounts& counts) {
  const bool deletes = args.import.mode == ImportMode::kDelete;
  return StrCat(counts.imported.load(), " document(s) ", deletes ? "deleted" : "imported", " successfully. ",
                counts.failed.load(), " document(s) failed to ", deletes ? "delete." : "import.");
}

Status RunImport(ImportArgs& args) {
  BRAID_CHECK_OK(PrepareImport(args));
  BRAID_TRY(std::unique_ptr<transfer::Input> input, transfer::Input::Open(args.file));
  const transfer::Input& source = *input;
  BRAID_TRY(const std::unique_ptr<transfer::Reader> reader, OpenReader(args, std::move(input)));
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  if (args.drop)
    BRAID_CHECK_OK(client::DropCollection(clients->Acquire().get(), args.import.database, args.import.collection));

  transfer::ImportCounts counts;
  Status status;
  {
    const transfer::Progress progress(
        [&] {
          const std::string read = transfer::Bytes(source.position());
          return StrCat(args.import.database, ".", args.import.collection, ": ", counts.imported.load(),
                        " document(s), ", read,
                        source.size() == 0 ? "" : StrCat(" of ", transfer::Bytes(source.size())));
        },
        args.quiet);
    status = transfer::Import(*clients, *reader, args.import, counts);
  }
  const std::string summary = Summary(args, counts);
  if (!status.ok()) return Status(status.code(), StrCat(status.message(), "\n", summary));
  if (args.import.stop->load()) return Status(Code::kInterrupted, StrCat("interrupted\n", summary));
  if (counts.failed.load() > 0) return Status(Code::kOperationFailed, summary);
  if (!args.quiet) transfer::PrintLine(summary);
  return {};
}

}  // namespace

Action SetUpImport(CLI::App& app) {
  const auto args = std::make_shared<ImportArgs>();
  AddImportOptions(app, *args);
  return [args] { return RunImport(*args); };
}

}  // namespace braid::cli
