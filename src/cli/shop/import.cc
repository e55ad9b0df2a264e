// braid shop import: the invoices of the retail data as orders, its stock codes as products.
#include "services/shop/import.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "base/mutex.h"
#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/shop/actions.h"
#include "cli/shop/retail_csv.h"
#include "cli/transfer/progress.h"
#include "client/handles.h"

namespace braid::cli::shop {
namespace {

using braid::shop::ImportCounts;
using braid::shop::Importer;

struct ShopImportArgs {
  std::string store = "./data";
  std::vector<std::string> files;
  braid::shop::ImportOptions options;
  bool json = false;
  bool quiet = false;
};

void AddShopImportOptions(CLI::App& app, ShopImportArgs& args) {
  AddStoreOption(app, args.store);
  app.add_option("-d,--db", args.options.database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_option("files", args.files,
                 "CSV files of the retail data, packed with gzip or not; - is standard input. May be given again: "
                 "existing orders stay unchanged.")
      ->type_name("FILE")
      ->required();
  app.add_option("--batch", args.options.batch_orders_max, "Orders in one transaction.")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--quiet", args.quiet, "No progress; refused lines are still reported.");
  app.add_flag("--json", args.json, "One JSON object on standard output; everything else goes to standard error.");
}

std::string Describe(const ImportCounts& counts) {
  return StrCat(counts.rows.load(), " rows: ", counts.orders.load(), " orders (", counts.canceled.load(), " canceled, ",
                counts.guests.load(), " of guests), ", counts.duplicates.load(), " there already, ",
                counts.refused.load(), " rows refused");
}

struct ShopImportSummary {
  uint64_t files = 0;         // read to their end
  uint64_t files_failed = 0;  // not, or not to their end
  double seconds = 0;
};

void PrintImportJson(const ShopImportSummary& summary, const ImportCounts& counts) {
  const auto integer = [](uint64_t value) { return static_cast<int64_t>(value); };
  client::Bson json;
  json.Integer("files", integer(summary.files))
      .Integer("rows", integer(counts.rows))
      .Integer("orders", integer(counts.orders))
      .Integer("canceled", integer(counts.canceled))
      .Integer("guests", integer(counts.guests))
      .Integer("products", integer(counts.products))
      .Integer("refused", integer(counts.refused))
      .Integer("duplicates", integer(counts.duplicates))
      .Double("seconds", summary.seconds);
  client::PrintJson(json);
}

// Names the file now being read, for the progress line.
class CurrentFile {
 public:
  void Set(const std::string& name) {
    const MutexLock lock(mu_);
    name_ = name;
  }
  std::string Get() const {
    const MutexLock lock(mu_);
    return name_;
  }

 private:
  mutable Mutex mu_;
  std::string name_ BRAID_GUARDED_BY(mu_);
};

// Reads the file to its end. `fault` says why it could not be; an error is one of the store.
Status ImportFile(Importer& importer, const std::string& path, const std::atomic<bool>& stop, Status& fault) {
  const Result<std::unique_ptr<RetailCsv>> csv = RetailCsv::Open(path);
  fault = csv.status();
  if (!csv.ok()) return {};
  importer.BeginFile(path == "-" ? "standard input" : path);
  bool complete = false;
  while (!stop.load()) {
    Result<std::optional<RetailRow>> row = (*csv)->Next();
    fault = row.status();
    complete = row.ok() && !row->has_value();
    if (!row.ok() || complete) break;
    if ((*row)->error.ok())
      BRAID_CHECK_OK(importer.Add(std::move((*row)->content)));
    else
      importer.RefuseRow((*row)->line, (*row)->error.message());
  }
  return importer.EndFile(complete);
}

Status ImportAll(Importer& importer, const ShopImportArgs& args, CurrentFile& current, ShopImportSummary& summary) {
  for (const std::string& path : args.files) {
    if (args.options.stop->load()) break;
    current.Set(path);
    Status fault;
    BRAID_CHECK_OK(ImportFile(importer, path, *args.options.stop, fault));
    if (fault.ok()) {
      ++summary.files;
      continue;
    }
    ++summary.files_failed;
    transfer::PrintLine(StrCat(path, ": ", fault.message()));
  }
  return importer.Finish();
}

Status RunShopImport(ShopImportArgs& args) {
  args.options.stop = &StopOnInterrupt();
  args.options.on_refused = [](std::string_view file, uint64_t line, std::string_view reason) {
    transfer::PrintLine(StrCat(file, ":", line, ": ", reason));
  };
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  BRAID_TRY(const std::unique_ptr<Importer> importer, Importer::Open(*clients, args.options));
  const ImportCounts& counts = importer->counts();
  const auto start = std::chrono::steady_clock::now();
  ShopImportSummary summary;
  CurrentFile current;
  Status status;
  {
    const transfer::Progress progress([&] { return StrCat(current.Get(), ": ", Describe(counts)); }, args.quiet);
    status = ImportAll(*importer, args, current, summary);
  }
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (args.json) PrintImportJson(summary, counts);
  const std::string text = StrCat(summary.files, " files, ", Describe(counts), ", ", counts.products.load(),
                                  " products new or changed, in ", fmt::format("{:.1f}", summary.seconds), " s");
  if (!status.ok()) {
    return Status(status.code(),
                  StrCat(status.message(), "\n", text, "\nRun it again with the same files: nothing is stored twice."));
  }
  if (args.options.stop->load()) return Status(Code::kInterrupted, StrCat("interrupted\n", text));
  if (summary.files_failed > 0) {
    return Status(Code::kOperationFailed, StrCat(summary.files_failed, " files could not be read\n", text));
  }
  transfer::PrintLine(text);
  if (counts.orders == 0 && counts.products == 0 && counts.duplicates > 0) {
    transfer::PrintLine("nothing has changed: all of it was there already");
  }
  return {};
}

}  // namespace

Action SetUpImport(CLI::App& app) {
  const auto args = std::make_shared<ShopImportArgs>();
  AddShopImportOptions(app, *args);
  return [args] { return RunShopImport(*args); };
}

}  // namespace braid::cli::shop
