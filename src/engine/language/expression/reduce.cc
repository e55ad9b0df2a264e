// $reduce: a value carried from element to element. Everything else that a step computes is freed, and a body that
// appends to $$value does so in place, so that collecting n elements takes n steps and not n².
#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>

#include "base/assert.h"
#include "engine/bson/arena.h"
#include "engine/bson/validate.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Type;
using bson::Value;

namespace {

/// Each step may wrap the value of the step before.
Status CheckNesting(const Value& value, int levels) {
  if (!bson::NestsDeeperThan(value, levels)) return {};
  return {Code::kOverflow, StrCat("$reduce made a value that is nested deeper than ", bson::kNestingMax, " levels")};
}

/// A string or an array that is appended to without copying its contents each time: it has room for one value in an
/// arena, which doubles each time it is full. Not thread-safe.
class GrowingValue {
 public:
  explicit GrowingValue(bson::Arena& arena) : arena_(arena) {}

  /// `value` (a string or an array) with `more` of the same type behind it. If `value` is what the last call returned,
  /// it is appended to in place, and that result is not valid any longer. An empty value if the limit does not allow
  /// it.
  Value Append(const Value& value, std::span<const Value> more);
  /// The arena was rewound.
  void Forget() { start_ = nullptr; }

 private:
  bool Reserve(const Value& value, size_t size, bool in_place);
  void AppendText(const Value& more);
  void AppendElements(const Value& more);

  bson::Arena& arena_;
  char* start_ = nullptr;  // null: nothing has been appended yet
  size_t size_ = 0;
  size_t capacity_ = 0;
  size_t count_ = 0;  // of an array's elements
};

Value GrowingValue::Append(const Value& value, std::span<const Value> more) {
  const bool same = start_ != nullptr && value.bytes().data() == start_ && value.bytes().size() == size_;
  const bool array = value.Is(Type::kArray);
  BRAID_ASSERT(array || value.Is(Type::kString));
  if (!same) count_ = array ? value.AsView().Count() : 0;
  size_t size = value.bytes().size();
  size_t count = count_;
  bool inside = false;  // a part of the value itself is appended to it
  for (const Value& each : more) {
    inside = inside || (each.bytes().data() >= start_ && each.bytes().data() < start_ + size_);
    if (array) {
      for (const bson::Element& item : each.AsView()) size += 2 + IndexDigits(count++) + item.value.bytes().size();
    } else {
      size += each.AsString().size();
    }
  }
  if (!Reserve(value, size, same && !inside)) return bson::Arena::Empty(value.type());
  --size_;  // the last byte is a NUL in both
  for (const Value& each : more) array ? AppendElements(each) : AppendText(each);
  BRAID_ASSERT(size_ + 1 == size && size <= capacity_);  // exactly what was reserved is written
  start_[size_++] = '\0';
  const auto length = static_cast<uint32_t>(array ? size_ : size_ - 4);
  std::memcpy(start_, &length, sizeof(length));
  return {value.type(), start_, static_cast<uint32_t>(size_)};
}

bool GrowingValue::Reserve(const Value& value, size_t size, bool in_place) {
  if (in_place && size <= capacity_) return true;
  constexpr size_t kLeast = 64;
  const size_t capacity = std::max(2 * size, kLeast);
  char* const start = arena_.TryAllocate(capacity);
  if (start == nullptr) return false;
  std::memcpy(start, value.bytes().data(), value.bytes().size());
  start_ = start;
  size_ = value.bytes().size();
  capacity_ = capacity;
  return true;
}

void GrowingValue::AppendText(const Value& more) {
  const std::string_view text = more.AsString();
  std::memcpy(start_ + size_, text.data(), text.size());
  size_ += text.size();
}

void GrowingValue::AppendElements(const Value& more) {
  for (const bson::Element& item : more.AsView()) {
    start_[size_++] = static_cast<char>(item.value.type());
    size_ = static_cast<size_t>(std::to_chars(start_ + size_, start_ + capacity_, count_++).ptr - start_);
    start_[size_++] = '\0';
    const std::string_view bytes = item.value.bytes();
    if (!bytes.empty()) std::memcpy(start_ + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
  }
}

/// One run over one input.
class Reduction {
 public:
  Reduction(Evaluation& evaluation, int value_slot, const Value& initial)
      : evaluation_(evaluation),
        value_slot_(value_slot),
        start_(evaluation.arena.mark()),
        total_(initial),
        growing_(evaluation.arena) {}

  Status Step(const Expression& body) {
    BRAID_CHECK_OK(evaluation_.work.Tick());
    evaluation_.Set(value_slot_, total_);
    const Expression* tail = &body;
    for (const Expression* last = nullptr; last != tail;) {
      last = tail;
      BRAID_TRY(tail, last->Tail(evaluation_));
    }
    if (tail->IsVariable(value_slot_)) return {};
    const std::span<const ExpressionPtr> appended = tail->AppendedTo(value_slot_);
    if (!appended.empty() && (total_.Is(Type::kArray) || total_.Is(Type::kString))) {
      BRAID_CHECK_OK(Append(*tail, appended));
    } else {
      BRAID_TRY(total_, tail->Evaluate(evaluation_));
      BRAID_CHECK_OK(CheckNesting(total_, bson::kNestingMax));
    }
    FreeStep();
    return {};
  }
  const Value& total() const { return total_; }

 private:
  Status Append(const Expression& tail, std::span<const ExpressionPtr> operands) {
    Values more;
    size_t bytes = 0;
    for (const ExpressionPtr& operand : operands) {
      BRAID_TRY(const Value value, operand->Evaluate(evaluation_));
      if (value.type() != total_.type()) {  // null, or an error: left to the operator
        BRAID_TRY(total_, tail.Evaluate(evaluation_));
        return {};
      }
      BRAID_CHECK_OK(CheckNesting(value, bson::kNestingMax));
      bytes += value.bytes().size();
      more.push_back(value);
    }
    BRAID_CHECK_OK(evaluation_.work.Tick(StepsFor(bytes)));
    total_ = growing_.Append(total_, more);
    return {};
  }

  /// Of everything allocated since the start only the total is needed. It is moved only when that frees far more than
  /// it copies.
  void FreeStep() {
    constexpr size_t kWorthwhile = 64 * 1024;
    if (evaluation_.arena.UsedSince(start_) < std::max(kWorthwhile, 4 * total_.bytes().size())) return;
    total_ = evaluation_.arena.Compact(start_, total_);
    growing_.Forget();
  }

  Evaluation& evaluation_;
  const int value_slot_;
  const bson::Arena::Mark start_;
  Value total_;
  GrowingValue growing_;
};

}  // namespace

Result<Value> ReduceExpression::Evaluate(Evaluation& evaluation) const {
  BRAID_ASSERT(loop_.input != nullptr && loop_.extra != nullptr && loop_.body != nullptr);
  BRAID_TRY(Value input, loop_.input->Evaluate(evaluation));
  if (input.IsNullish()) return bson::Arena::Null();
  if (!input.Is(Type::kArray))
    return CallError(40080, "$reduce requires that 'input' be an array, found: ", TypeOf(input));
  BRAID_TRY(const Value initial, loop_.extra->Evaluate(evaluation));
  Reduction reduction(evaluation, loop_.slot + 1, initial);
  for (const bson::Element& item : input.AsView()) {
    evaluation.Set(loop_.slot, item.value);
    BRAID_CHECK_OK(reduction.Step(*loop_.body));
  }
  return reduction.total();
}

}  // namespace braid::query::functions
