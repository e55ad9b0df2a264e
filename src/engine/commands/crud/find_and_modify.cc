// findAndModify: changes or removes one document and returns it, before or after.
#include "base/strings.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/statements.h"
#include "engine/commands/table.h"
#include "engine/language/project/projection.h"

namespace braid::commands {
namespace {

struct FindAndModifyArgs {
  std::string_view collection;
  bson::View query;
  bson::View fields;
  bson::View sort;
  bson::Value update;
  bson::Value hint;
  std::vector<bson::View> array_filters;
  std::optional<bson::View> collation;
  std::optional<bson::View> let;
  bool remove = false;
  bool return_new = false;
  bool upsert = false;
  bool bypass_validation = false;
};

Result<FindAndModifyArgs> ParseFindAndModify(const Request& request) {
  FindAndModifyArgs args;
  ArgReader reader(request);
  reader.Collection(request.name, args.collection);
  reader.Optional("query", args.query);
  reader.Optional("fields", args.fields);
  reader.Optional("sort", args.sort);
  reader.Optional("update", args.update);
  reader.Optional("hint", args.hint);
  reader.Optional("arrayFilters", args.array_filters);
  reader.Optional("collation", args.collation);
  reader.Optional("let", args.let);
  reader.Optional("remove", args.remove);
  reader.Optional("new", args.return_new);
  reader.Optional("upsert", args.upsert);
  reader.Optional("bypassDocumentValidation", args.bypass_validation);
  reader.Ignore({"rawData", "sampleId"});
  const auto refuse = [&](bool condition, const char* text) { reader.Check(!condition, Code::kFailedToParse, text); };
  refuse(args.remove && !args.update.missing(), "Cannot specify both an update and remove=true");
  refuse(args.remove && args.upsert, "Cannot specify both upsert=true and remove=true");
  refuse(args.remove && args.return_new,
         "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document");
  refuse(args.remove && !args.array_filters.empty(), "Cannot specify arrayFilters and remove=true");
  refuse(!args.remove && args.update.missing(), "Either an update or remove=true must be specified");
  BRAID_CHECK_OK(reader.Finish());
  if (!args.update.missing() && !args.update.Is(bson::Type::kObject) && !args.update.Is(bson::Type::kArray)) {
    return Status(Code::kFailedToParse, "Update argument must be either an object or an array");
  }
  return args;
}

/// The `value` of the reply: the document, through `fields`.
class Shown {
 public:
  static Result<Shown> Make(Call& call, const FindAndModifyArgs& args, const catalog::Namespace& ns) {
    Shown shown;
    if (args.fields.empty()) return shown;
    BRAID_TRY(const catalog::CollectionPtr collection, FindForRead(call, ns));
    BRAID_TRY(auto environment, MakeEnvironment(call, collection, args.collation, args.let));
    BRAID_TRY(query::Filter filter, query::Filter::Parse(args.query, environment));
    shown.filter_ = std::make_shared<query::Filter>(filter);
    BRAID_TRY(shown.projection_,
              query::Projection::Parse(args.fields, query::Projection::Use::kFind, shown.filter_.get(), environment));
    return shown;
  }
  Status Take(bson::View document) {
    bson::Arena arena(bson::Arena::Use::kQuery);
    if (projection_ == nullptr) {
      value_ = bson::Document(document);
    } else {
      BRAID_TRY(value_, projection_->Apply(document, arena));
    }
    taken_ = true;
    return {};
  }
  void AppendTo(bson::Builder& reply) const {
    if (taken_) {
      reply.Append("value", value_);
    } else {
      reply.Append("value", bson::Null{});
    }
  }

 private:
  std::shared_ptr<const query::Filter> filter_;
  std::unique_ptr<const query::Projection> projection_;
  bson::Document value_;
  bool taken_ = false;
};

bson::Document RemoveReply(int64_t n, const Shown& shown) {
  bson::Builder reply;
  reply.OpenObject("lastErrorObject").Append("n", static_cast<int32_t>(n)).Close();
  shown.AppendTo(reply);
  return reply.Finish();
}

bson::Document ChangeReply(const UpdateResult& outcome, const Shown& shown) {
  bson::Builder reply;
  reply.OpenObject("lastErrorObject").Append("n", static_cast<int32_t>(outcome.matched + (outcome.upserted ? 1 : 0)));
  reply.Append("updatedExisting", outcome.matched > 0);
  if (outcome.upserted) reply.Append("upserted", *outcome.upserted);
  reply.Close();
  shown.AppendTo(reply);
  return reply.Finish();
}

Result<bson::Document> RunRemove(Call& call, const FindAndModifyArgs& args, const catalog::Namespace& ns,
                                 Shown& shown) {
  DeleteStatement statement{
      .q = args.query, .collation = args.collation, .let = args.let, .sort = args.sort, .hint = args.hint};
  statement.seen = [&](bson::View before) { return shown.Take(before); };
  if (call.retry != nullptr) statement.done = [&] { call.retry->Note(0, RemoveReply(1, shown)); };
  BRAID_TRY(int64_t n, RunDelete(call, ns, statement));
  return RemoveReply(n, shown);
}

Result<bson::Document> RunChange(Call& call, const FindAndModifyArgs& args, const catalog::Namespace& ns,
                                 Shown& shown) {
  UpdateStatement statement{.q = args.query,
                            .u = args.update,
                            .upsert = args.upsert,
                            .array_filters = args.array_filters,
                            .collation = args.collation,
                            .let = args.let,
                            .sort = args.sort,
                            .hint = args.hint};
  statement.options.bypass_validation = args.bypass_validation;
  statement.seen = [&](const bson::View* before, bson::View after) -> Status {
    if (args.return_new) return shown.Take(after);
    return before != nullptr ? shown.Take(*before) : Status();
  };
  if (call.retry != nullptr) {
    statement.done = [&](const UpdateResult& outcome) { call.retry->Note(0, ChangeReply(outcome, shown)); };
  }
  BRAID_TRY(UpdateResult outcome, RunUpdate(call, ns, statement));
  return ChangeReply(outcome, shown);
}

Result<bson::Document> RunFindAndModify(Call& call) {
  BRAID_TRY(FindAndModifyArgs args, ParseFindAndModify(call.request));
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, args.collection));
  if (call.retry != nullptr) {
    if (const bson::Document* reply = call.retry->Find(0)) return *reply;
  }
  BRAID_TRY(Shown shown, Shown::Make(call, args, ns));
  return args.remove ? RunRemove(call, args, ns, shown) : RunChange(call, args, ns, shown);
}

}  // namespace

constinit const Command kFindAndModify = {.name = "findAndModify",
                                          .flags = kWrites | kRetryable | kInTransaction,
                                          .help = "Changes or removes one document and returns it.",
                                          .run = RunFindAndModify};
constinit const Command kFindandmodify = {.name = "findandmodify",
                                          .flags = kWrites | kRetryable | kInTransaction,
                                          .help = "Old name of findAndModify.",
                                          .run = RunFindAndModify};
}  // namespace braid::commands
