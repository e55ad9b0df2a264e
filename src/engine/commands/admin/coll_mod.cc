// collMod: changes a collection's validator, hides an index, or changes a TTL.
#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/config_views.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

struct IndexChange {
  std::string_view name;
  bson::View key_pattern;
  std::optional<bool> hidden;
  std::optional<int64_t> expire_after_seconds;
};

struct CollModArgs {
  std::string_view collection;
  std::optional<bson::View> validator;
  std::string_view level;
  std::string_view action;
  std::optional<IndexChange> index;
};

Result<IndexChange> ParseIndex(bson::View spec) {
  IndexChange change;
  ArgReader reader(spec, "collMod.index");
  reader.Optional("name", change.name);
  reader.Optional("keyPattern", change.key_pattern);
  reader.Optional("hidden", change.hidden);
  reader.Optional("expireAfterSeconds", change.expire_after_seconds);
  reader.Refuse({"unique", "prepareUnique"}, "build the unique index under another name instead");
  BRAID_CHECK_OK(reader.Finish());
  if (change.name.empty() == change.key_pattern.empty()) {
    return Status(Code::kInvalidOptions, "collMod.index needs either name or keyPattern");
  }
  if (!change.hidden && !change.expire_after_seconds) {
    return Status(Code::kInvalidOptions, "no expireAfterSeconds, hidden, unique, or prepareUnique field");
  }
  return change;
}

Result<CollModArgs> ParseCollMod(const Request& request) {
  CollModArgs args;
  std::optional<bson::View> index;
  ArgReader reader(request);
  reader.Collection("collMod", args.collection);
  reader.Optional("validator", args.validator);
  reader.Optional("validationLevel", args.level);
  reader.Optional("validationAction", args.action);
  reader.Optional("index", index);
  reader.Refuse({"viewOn", "pipeline"}, "views are not supported");
  reader.Refuse({"changeStreamPreAndPostImages"}, "change streams are not supported");
  reader.Refuse({"cappedSize", "cappedMax"}, "capped collections are not supported");
  reader.Refuse({"timeseries", "expireAfterSeconds"}, "time series collections are not supported");
  reader.Refuse({"dryRun"}, "it belongs to unique, which is refused");
  BRAID_CHECK_OK(reader.Finish());
  if (index) {
    BRAID_TRY(args.index, ParseIndex(*index));
  }
  return args;
}

Status ChangeValidation(catalog::Collection* collection, const CollModArgs& args) {
  if (args.validator) collection->validator_spec = bson::Document(*args.validator);
  if (args.level == "off") {
    collection->validation_level = catalog::ValidationLevel::kOff;
  } else if (args.level == "strict") {
    collection->validation_level = catalog::ValidationLevel::kStrict;
  } else if (args.level == "moderate") {
    collection->validation_level = catalog::ValidationLevel::kModerate;
  } else if (!args.level.empty()) {
    return Status(Code::kBadValue, StrCat("Enumeration value '", args.level,
                                          "' for field 'collMod.validationLevel' is not a valid value."));
  }
  if (args.action == "error") {
    collection->validation_action = catalog::ValidationAction::kError;
  } else if (args.action == "warn") {
    collection->validation_action = catalog::ValidationAction::kWarn;
  } else if (!args.action.empty()) {
    return Status(Code::kBadValue, StrCat("Enumeration value '", args.action,
                                          "' for field 'collMod.validationAction' is not a valid value."));
  }
  return {};
}

Status ChangeIndex(catalog::Collection* collection, const IndexChange& change, bson::Builder* reply) {
  for (auto& index : collection->indexes) {
    const bool wanted = change.name.empty()
                            ? bson::ToShell(index->spec.key_pattern) == bson::ToShell(change.key_pattern)
                            : index->spec.name == change.name;
    if (!wanted) continue;
    if (index->spec.is_id() && change.hidden) return Status(Code::kBadValue, "can't hide _id index");
    auto changed = index->Clone();
    if (change.hidden) {
      reply->Append("hidden_old", index->spec.hidden).Append("hidden_new", *change.hidden);
      changed->spec.hidden = *change.hidden;
    }
    if (change.expire_after_seconds) {
      if (*change.expire_after_seconds < 0 || *change.expire_after_seconds > 2147483647) {
        return Status(Code::kInvalidOptions, "expireAfterSeconds must be within 0 … 2147483647");
      }
      if (index->spec.fields.size() != 1 || index->spec.is_id())
        return Status(Code::kInvalidOptions, "a TTL index has one field, not _id");
      if (index->spec.expire_after_seconds) reply->Append("expireAfterSeconds_old", *index->spec.expire_after_seconds);
      reply->Append("expireAfterSeconds_new", *change.expire_after_seconds);
      changed->spec.expire_after_seconds = *change.expire_after_seconds;
    }
    index = changed;
    return {};
  }
  return Status(
      Code::kIndexNotFound,
      StrCat("cannot find index ", change.name.empty() ? bson::ToShell(change.key_pattern) : std::string(change.name),
             " for ns ", collection->ns.ToString()));
}

Result<bson::Document> RunCollMod(Call& call) {
  BRAID_TRY(CollModArgs args, ParseCollMod(call.request));
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, args.collection));
  BRAID_CHECK_OK(CheckNoConfigView(ns));
  bson::Builder fields;
  const auto change = [&](catalog::Collection* collection) -> Status {
    BRAID_CHECK_OK(ChangeValidation(collection, args));
    return args.index ? ChangeIndex(collection, *args.index, &fields) : Status();
  };
  BRAID_TRY(catalog::Catalog::Change done, call.engine.catalog->Modify(ns, change, &call.context.operation()));
  call.context.NotePosition(done.position);
  return fields.Finish();
}

}  // namespace

constinit const Command kCollMod = {
    .name = "collMod", .flags = kWrites, .help = "Changes a collection's options or an index's.", .run = RunCollMod};
}  // namespace braid::commands
