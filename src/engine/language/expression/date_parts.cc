// $year, $month, … $isoWeek: one part of a date each, in a time zone; and $dateToParts, all of them.
#include <algorithm>

#include "engine/language/expression/calendar.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/time_zone.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

using Part = int64_t (*)(int64_t local_millis);

struct NamedPart {
  std::string_view name;
  Part part;
};

constexpr NamedPart kParts[] = {
    {"$dayOfMonth", [](int64_t t) { return CalendarOf(t).day; }},
    {"$dayOfWeek", [](int64_t t) { return DayOfWeek(FloorDiv(t, kMillisPerDay)); }},
    {"$dayOfYear", [](int64_t t) { return DayOfYear(CalendarOf(t)); }},
    {"$hour", [](int64_t t) { return CalendarOf(t).hour; }},
    {"$isoDayOfWeek", [](int64_t t) { return IsoWeekOf(t).day; }},
    {"$isoWeek", [](int64_t t) { return IsoWeekOf(t).week; }},
    {"$isoWeekYear", [](int64_t t) { return IsoWeekOf(t).year; }},
    {"$millisecond", [](int64_t t) { return CalendarOf(t).millisecond; }},
    {"$minute", [](int64_t t) { return CalendarOf(t).minute; }},
    {"$month", [](int64_t t) { return CalendarOf(t).month; }},
    {"$second", [](int64_t t) { return CalendarOf(t).second; }},
    {"$week",
     [](int64_t t) {  // weeks begin on Sunday; days before the first Sunday are in week 0
       return (DayOfYear(CalendarOf(t)) + 7 - DayOfWeek(FloorDiv(t, kMillisPerDay))) / 7;
     }},
    {"$year", [](int64_t t) { return CalendarOf(t).year; }},
};

class DatePartExpression final : public Expression {
 public:
  DatePartExpression(const NamedPart& part, ExpressionPtr date, ExpressionPtr zone)
      : part_(part), date_(std::move(date)), zone_(std::move(zone)) {}
  Result<Value> Evaluate(Evaluation& evaluation) const override {
    BRAID_TRY(Value date, date_->Evaluate(evaluation));
    if (date.IsNullish()) return bson::Arena::Null();
    BRAID_TRY(int64_t millis, DateOf(date));
    if (zone_ != nullptr) {
      BRAID_TRY(Value name, zone_->Evaluate(evaluation));
      if (name.IsNullish()) return bson::Arena::Null();
      if (!name.Is(Type::kString)) {
        return CallError(40533, part_.name, " requires a string for the timezone argument, but was given a ",
                         TypeOf(name));
      }
      BRAID_TRY(TimeZone zone, TimeZone::Find(name.AsString()));
      millis = zone.ToLocal(millis);
    }
    const int64_t result = part_.part(millis);
    if (part_.name == "$isoWeekYear") return evaluation.arena.Int64(result);
    return evaluation.arena.Int32(static_cast<int32_t>(result));
  }
  void CollectPaths(std::set<std::string>* paths) const override {
    date_->CollectPaths(paths);
    if (zone_ != nullptr) zone_->CollectPaths(paths);
  }

 private:
  const NamedPart& part_;
  ExpressionPtr date_;
  ExpressionPtr zone_;  // null: UTC
};

constexpr NamedOperand kToParts[] = {{"date", 40522}, {"timezone"}, {"iso8601"}};

}  // namespace

const NamedOperands kDateToPartsOperands = {40524, 40520, kToParts};

Result<ExpressionPtr> ParseDatePart(std::string_view name, const Value& operand, ParseContext& context) {
  const NamedPart* part = std::ranges::find(kParts, name, &NamedPart::name);
  std::vector<ExpressionPtr> operands(2);
  const bool is_object = operand.Is(Type::kObject);
  if (is_object && (operand.AsView().empty() || !operand.AsView().begin()->name.starts_with('$'))) {
    static constexpr NamedOperand kNames[] = {{"date", 40539}, {"timezone"}};
    static constexpr NamedOperands kSignature = {40539, 40535, kNames};
    BRAID_TRY(operands, ParseNamedOperands(name, kSignature, operand, context));
  } else {
    BRAID_TRY(auto only, ParseOperandList(operand, context));
    if (only.size() != 1) {
      return CallError(40536, name, " accepts exactly one argument if given an array, but was given ", only.size());
    }
    operands[0] = std::move(only[0]);
  }
  const bool constant = AllConstant(operands);
  ExpressionPtr made = std::make_unique<DatePartExpression>(*part, std::move(operands[0]), std::move(operands[1]));
  if (constant) return Fold(std::move(made), context);
  return made;
}

Result<Value> DateToParts(const Call& call) {
  if (call.Has(1) && call[1].IsNullish()) return call.arena().Null();
  BRAID_TRY(TimeZone zone, ZoneOperand(call, 1));
  bool iso = false;
  if (call.Has(2)) {
    if (call[2].IsNullish()) return call.arena().Null();
    if (!call[2].Is(Type::kBool)) return CallError(40521, "iso8601 must evaluate to a bool, found ", TypeOf(call[2]));
    iso = call[2].AsBool();
  }
  if (call[0].IsNullish()) return call.arena().Null();
  BRAID_TRY(int64_t millis, DateOf(call[0]));
  millis = zone.ToLocal(millis);
  const CalendarTime time = CalendarOf(millis);
  const IsoWeekTime week = IsoWeekOf(millis);
  auto number = [&call](int64_t n) { return call.arena().Int32(static_cast<int32_t>(n)); };
  const Element fields[] = {
      {iso ? "isoWeekYear" : "year", number(iso ? week.year : time.year)},
      {iso ? "isoWeek" : "month", number(iso ? week.week : time.month)},
      {iso ? "isoDayOfWeek" : "day", number(iso ? week.day : time.day)},
      {"hour", number(time.hour)},
      {"minute", number(time.minute)},
      {"second", number(time.second)},
      {"millisecond", number(time.millisecond)},
  };
  return MakeObject(call.arena(), fields);
}

}  // namespace braid::query::functions
