// create: a collection with options.
#include <algorithm>

#include "base/strings.h"
#include "engine/bson/collation.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

struct CreateArgs {
  std::string_view collection;
  bson::Document options;  // the options that the catalogue keeps
};

// The options that the catalogue keeps and listCollections shows.
constexpr std::string_view kKept[] = {
    "validator", "validationLevel", "validationAction", "collation", "clusteredIndex", "capped", "size"};

// Every collection is clustered by _id, so the option only changes what listIndexes shows.
Status CheckClustered(const bson::Value& clustered) {
  if (clustered.missing()) return {};
  if (!clustered.Is(bson::Type::kObject))
    return Status(Code::kTypeMismatch, "'create.clusteredIndex' must be an object");
  bson::View key;
  bool unique = false;
  ArgReader reader(clustered.AsView(), "create.clusteredIndex");
  reader.Required("key", key);
  reader.Required("unique", unique);
  reader.Ignore({"name", "v"});
  reader.Check(key.Count() == 1 && key.Has("_id") && unique, Code::kInvalidIndexSpecificationOption,
               "The clusteredIndex option needs key: {_id: 1} and unique: true");
  return reader.Finish();
}

/// The option as listCollections shows it: version and name filled in.
bson::Document CompleteClustered(bson::View given) {
  bson::Builder complete;
  complete.AppendAll(given);
  if (!given.Has("v")) complete.Append("v", 2);
  if (!given.Has("name")) complete.Append("name", "_id_");
  return complete.Finish();
}

Result<CreateArgs> ParseCreate(const Request& request) {
  CreateArgs args;
  bson::View validator;
  std::string_view level;
  std::string_view action;
  std::optional<bson::View> collation;
  bson::Value clustered;
  bool capped = false;
  bool auto_index_id = true;
  ArgReader reader(request);
  reader.Collection("create", args.collection);
  reader.Optional("validator", validator);
  reader.Optional("validationLevel", level);
  reader.Optional("validationAction", action);
  reader.Optional("collation", collation);
  reader.Optional("capped", capped);
  reader.Optional("autoIndexId", auto_index_id);
  const bool is_profile = args.collection == kProfileCollection;  // the one that is capped
  int64_t size = kProfileBytesDefault;
  if (is_profile) {
    reader.Optional("size", size);
  } else {
    reader.Refuse({"size"}, "capped collections are not supported");
  }
  reader.Refuse({"max"}, "capped collections are not supported");
  reader.Refuse({"timeseries", "expireAfterSeconds"}, "time series collections are not supported");
  reader.Optional("clusteredIndex", clustered);
  reader.Refuse({"viewOn", "pipeline"}, "views are not supported");
  reader.Refuse({"changeStreamPreAndPostImages"}, "change streams are not supported");
  reader.Refuse({"encryptedFields"}, "queryable encryption is not supported");
  reader.Ignore({"storageEngine", "indexOptionDefaults", "idIndex", "temp", "flags", "recordIdsReplicated"});
  reader.Check(!capped || is_profile, Code::kCommandNotSupported,
               "'create.capped' is not supported: capped collections are not supported");
  reader.Check(capped || !is_profile, Code::kInvalidOptions, "system.profile is capped: {capped: true, size: BYTES}");
  reader.Check(size >= 4096 && size <= kProfileBytesMax, Code::kBadValue,
               StrCat("'create.size' of system.profile must be 4096 to ", kProfileBytesMax));
  reader.Check(auto_index_id, Code::kInvalidOptions,
               "'create.autoIndexId: false' is not supported: every collection has an _id index");
  BRAID_CHECK_OK(reader.Finish());
  BRAID_CHECK_OK(CheckClustered(clustered));
  bson::Builder options;
  for (const auto& [name, value] : request.body) {
    if (std::find(std::begin(kKept), std::end(kKept), name) == std::end(kKept)) continue;
    if (name == "collation" && value.Is(bson::Type::kObject)) {
      BRAID_TRY(auto parsed, bson::Collation::Parse(value.AsView()));
      if (parsed != nullptr) options.Append(name, parsed->spec());
    } else if (name == "clusteredIndex") {
      options.Append(name, CompleteClustered(value.AsView()));
    } else {
      options.Append(name, value);
    }
  }
  args.options = options.Finish();
  return args;
}

Result<bson::Document> RunCreate(Call& call) {
  BRAID_TRY(CreateArgs args, ParseCreate(call.request));
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, args.collection));
  BRAID_CHECK_OK(CheckNoConfigView(ns));
  if (call.context.is_transaction()) {
    if (call.context.FindDraft(ns) != nullptr || call.engine.catalog->Find(ns) != nullptr) {
      return Status(Code::kNamespaceExists, "a collection '" + ns.ToString() + "' already exists");
    }
    BRAID_TRY(catalog::CollectionPtr draft, call.engine.catalog->Draft(ns, args.options));
    call.context.KeepDraft(std::move(draft));
    return bson::Document();
  }
  BRAID_TRY(catalog::Catalog::Change change, call.engine.catalog->Create(ns, args.options));
  call.context.NotePosition(change.position);
  return bson::Document();
}

}  // namespace

constinit const Command kCreate = {
    .name = "create", .flags = kWrites | kInTransaction, .help = "Creates a collection.", .run = RunCreate};
}  // namespace braid::commands
