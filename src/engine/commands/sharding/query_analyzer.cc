// configureQueryAnalyzer: starts or stops recording the operations on a collection (query_sampler.h).
#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/sharding/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

constexpr double kSamplesPerSecondMax = 50;

struct QueryAnalyzerArgs {
  catalog::Namespace ns;
  SamplingConfiguration configuration;
};

Result<double> ParseRate(const bson::Value& rate) {
  if (rate.missing()) {
    return Status(Code::kInvalidOptions, "'samplesPerSecond' is missing: mode \"full\" needs it");
  }
  const double number = bson::Number::Of(rate).ToDouble();
  if (number > 0 && number <= kSamplesPerSecondMax) return number;  // not for NaN
  return Status(Code::kInvalidOptions,
                StrCat("'samplesPerSecond' must be above 0 and at most ", static_cast<int>(kSamplesPerSecondMax)));
}

Result<QueryAnalyzerArgs> ParseQueryAnalyzer(const Request& request) {
  std::string_view name;
  std::string_view mode;
  bson::Value rate;
  ArgReader reader(request);
  reader.Required("configureQueryAnalyzer", name);
  reader.Required("mode", mode);
  reader.Optional("samplesPerSecond", rate);
  reader.Check(rate.missing() || rate.IsNumber(), Code::kTypeMismatch,
               StrCat("BSON field 'configureQueryAnalyzer.samplesPerSecond' is the wrong type '",
                      bson::TypeName(rate.type()), "', expected types '[long, int, decimal, double]'"));
  BRAID_CHECK_OK(reader.Finish());
  QueryAnalyzerArgs args;
  BRAID_TRY(args.ns, ParseFullName(name));
  if (mode == "off") return args;  // samplesPerSecond may be given and is ignored
  if (mode != "full") {
    return Status(Code::kBadValue, StrCat("Enumeration value '", mode, "' for field 'configureQueryAnalyzer.mode' is ",
                                          "not a valid value: \"full\" or \"off\""));
  }
  args.configuration.full = true;
  BRAID_TRY(args.configuration.samples_per_second, ParseRate(rate));
  return args;
}

void AppendConfiguration(bson::Builder& reply, std::string_view name, const SamplingConfiguration& configuration) {
  reply.OpenObject(name).Append("mode", configuration.full ? "full" : "off");
  if (configuration.samples_per_second > 0) reply.Append("samplesPerSecond", configuration.samples_per_second);
  reply.Close();
}

Result<bson::Document> RunQueryAnalyzer(Call& call) {
  BRAID_TRY(const QueryAnalyzerArgs args, ParseQueryAnalyzer(call.request));
  if (args.ns.database == "admin" || args.ns.database == "config" || args.ns.database == "local") {
    return Status(Code::kIllegalOperation, StrCat("operations on ", args.ns.ToString(), " are not recorded"));
  }
  const catalog::CollectionPtr collection = call.engine.catalog->Find(args.ns);
  if (collection == nullptr) {
    return Status(Code::kNamespaceNotFound, StrCat("The namespace ", args.ns.ToString(), " does not exist"));
  }
  const auto before = call.engine.query_sampler.Configure(*collection, args.configuration);
  bson::Builder reply;
  if (before) AppendConfiguration(reply, "oldConfiguration", *before);
  AppendConfiguration(reply, "newConfiguration", args.configuration);
  return reply.Finish();
}

}  // namespace

constinit const Command kConfigureQueryAnalyzer = {
    .name = "configureQueryAnalyzer",
    .flags = kReadOnly | kAdminOnly,
    .help = "Records the operations on a collection, for choosing a shard key.",
    .run = RunQueryAnalyzer};
}  // namespace braid::commands
