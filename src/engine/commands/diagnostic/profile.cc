// profile: sets which operations of a database are recorded in its system.profile.
#include "engine/bson/number.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/command.h"
#include "engine/commands/parts.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

constexpr std::string_view kFilterNote =
    "When a filter expression is set, slowms and sampleRate are not used for profiling and slow-query log lines.";

struct ProfileArgs {
  int64_t level = 0;
  std::optional<int64_t> slow_millis;
  bson::Value sample_rate;
  bson::Value filter;
};

Result<ProfileArgs> ParseProfile(const Request& request) {
  ProfileArgs args;
  ArgReader reader(request);
  reader.Required("profile", args.level);
  reader.Optional("slowms", args.slow_millis);
  reader.Optional("sampleRate", args.sample_rate);
  reader.Optional("filter", args.filter);
  reader.Check(args.sample_rate.missing() || args.sample_rate.IsNumber(), Code::kTypeMismatch,
               "BSON field 'profile.sampleRate' must be a number");
  reader.Check(args.filter.missing() || args.filter.Is(bson::Type::kObject) ||
                   (args.filter.Is(bson::Type::kString) && args.filter.AsString() == "unset"),
               Code::kBadValue, "Expected an object, or the string 'unset'.");
  BRAID_CHECK_OK(reader.Finish());
  return args;
}

Result<ProfileSettings> Changed(ProfileSettings settings, const ProfileArgs& args) {
  if (args.level >= 0 && args.level <= 2) settings.level = static_cast<int>(args.level);
  if (args.slow_millis) settings.slow_millis = *args.slow_millis;
  if (!args.sample_rate.missing()) {
    settings.sample_rate = bson::Number::Of(args.sample_rate).ToDouble();
    if (!(settings.sample_rate >= 0 && settings.sample_rate <= 1)) {
      return Status(Code::kBadValue, "'sampleRate' must be between 0.0 and 1.0 inclusive");
    }
  }
  if (args.filter.Is(bson::Type::kObject)) settings.filter = bson::Document(args.filter.AsView());
  if (args.filter.Is(bson::Type::kString)) settings.filter.reset();
  return settings;
}

// A level that does not exist only asks for the settings, as in MongoDB: shells use -1.
Result<bson::Document> RunProfile(Call& call) {
  BRAID_TRY(const ProfileArgs args, ParseProfile(call.request));
  Profiler& profiler = call.engine.profiler;
  const ProfileSettings before = profiler.Get(call.request.database);
  BRAID_TRY(const ProfileSettings wanted, Changed(before, args));
  if (wanted.level > 0) {
    BRAID_CHECK_OK(ProfileWriter::Ensure(call.context.shared(), call.request.database));
  }
  BRAID_CHECK_OK(profiler.Set(call.request.database, wanted));
  bson::Builder reply;
  reply.Append("was", before.level).Append("slowms", static_cast<int32_t>(before.slow_millis));
  reply.Append("sampleRate", before.sample_rate);
  if (before.filter) reply.Append("filter", *before.filter).Append("note", kFilterNote);
  return reply.Finish();
}

}  // namespace

constinit const Command kProfile = {
    .name = "profile", .help = "Says or sets which operations are profiled.", .run = RunProfile};
}  // namespace braid::commands
