#include "engine/commands/fail_points.h"

#include "base/mutex.h"
#include "base/strings.h"
#include "engine/bson/number.h"

namespace braid::commands {
namespace {

int64_t IntegerOr(const bson::Value& value, int64_t otherwise) {
  return value.IsNumber() ? bson::Number::Of(value).ToInt64Clamped() : otherwise;
}

bool Names(const bson::Value& commands, std::string_view command) {
  if (!commands.Is(bson::Type::kArray)) return false;
  if (command == "ismaster") command = "isMaster";  // one command, two spellings
  for (const bson::Element& element : commands.AsView()) {
    if (element.value.Is(bson::Type::kString) && element.value.AsString() == command) return true;
  }
  return false;
}

FailAction ActionOf(bson::View data, std::string_view command) {
  FailAction action;
  if (const bson::Value labels = data.Find("errorLabels"); labels.Is(bson::Type::kArray)) {
    action.error_labels = bson::Document(labels.AsView());
  }
  if (const int64_t code = IntegerOr(data.Find("errorCode"), 0); code != 0) {
    action.error = Status(static_cast<Code>(code), StrCat("Failing command via 'failCommand' failpoint: ", command));
  }
  if (const bson::Value close = data.Find("closeConnection"); !close.missing()) {
    action.close_connection = bson::IsTruthy(close);
  }
  if (bson::IsTruthy(data.Find("blockConnection"))) action.block_millis = IntegerOr(data.Find("blockTimeMS"), 0);
  if (const bson::Value error = data.Find("writeConcernError"); error.Is(bson::Type::kObject)) {
    action.write_concern_error = bson::Document(error.AsView());
  }
  return action;
}

}  // namespace

Result<int64_t> FailPoints::Configure(bson::View command) {
  const bson::Value name = command.Find("configureFailPoint");
  if (!name.Is(bson::Type::kString) || name.AsString() != "failCommand") {
    return Status(Code::kCommandNotSupported, "Braid knows the fail point failCommand only");
  }
  const bson::Value mode = command.Find("mode");
  const bson::Value data = command.Find("data");
  const MutexLock lock(mu_);
  if (mode.Is(bson::Type::kString) && mode.AsString() == "off") {
    mode_ = Mode::kOff;
  } else if (mode.Is(bson::Type::kString) && mode.AsString() == "alwaysOn") {
    mode_ = Mode::kAlwaysOn;
  } else if (mode.Is(bson::Type::kObject) && mode.AsView().Has("times")) {
    mode_ = Mode::kTimes;
    remaining_ = IntegerOr(mode.AsView().Find("times"), 0);
  } else if (mode.Is(bson::Type::kObject) && mode.AsView().Has("skip")) {
    mode_ = Mode::kSkip;
    remaining_ = IntegerOr(mode.AsView().Find("skip"), 0);
  } else {
    return Status(Code::kBadValue, "'mode' must be \"off\", \"alwaysOn\", {times: n} or {skip: n}");
  }
  if (data.Is(bson::Type::kObject)) data_ = bson::Document(data.AsView());
  active_.store(mode_ != Mode::kOff, std::memory_order_release);
  return entered_;
}

std::optional<FailAction> FailPoints::Enter(std::string_view command, std::string_view application) {
  if (!active_.load(std::memory_order_acquire)) return std::nullopt;
  const MutexLock lock(mu_);
  const bson::View data = data_;
  if (mode_ == Mode::kOff || !Names(data.Find("failCommands"), command)) return std::nullopt;
  const bson::Value wanted = data.Find("appName");
  if (wanted.Is(bson::Type::kString) && wanted.AsString() != application) return std::nullopt;
  if (mode_ == Mode::kSkip && remaining_ > 0) {
    --remaining_;
    return std::nullopt;
  }
  if (mode_ == Mode::kTimes) {
    if (remaining_ <= 0) return std::nullopt;
    if (--remaining_ == 0) {
      mode_ = Mode::kOff;
      active_.store(false, std::memory_order_release);
    }
  }
  ++entered_;
  return ActionOf(data, command);
}

}  // namespace braid::commands
