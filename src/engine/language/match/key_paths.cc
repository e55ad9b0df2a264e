#include "engine/language/match/key_paths.h"

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/json.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;
using bson::View;

// The position in a path, and the value at the last component read.
struct Step {
  Value value;
  size_t next;  // the component behind it; the path's size: the value is the path's end
};

// Reads on from component `at` until the path ends or an array is met. Missing if it leads nowhere.
Step Descend(const FieldPath& path, size_t at, View object) {
  for (;;) {
    const Value value = object.Find(path[at]);
    ++at;
    if (value.missing() || value.Is(Type::kArray) || at == path.size()) return {value, at};
    if (!value.Is(Type::kObject)) return {Value(), path.size()};
    object = value.AsView();
  }
}

// A component that names a position of the array just entered: that element, and what the rest of the path finds in it.
struct Positional {
  Value element;  // missing: the component names no position
  Step rest;
};

class Enumeration {
 public:
  Enumeration(const std::vector<FieldPath>& paths, const std::function<void(KeyPaths::Key)>& visit,
              KeyPaths::ArrayComponents* arrays)
      : paths_(paths), visit_(visit), arrays_(arrays) {}

  // The paths in work: how much of each is read and the values of those that are done.
  struct State {
    std::array<size_t, KeyPaths::kPathsMax> at{};
    std::array<Value, KeyPaths::kPathsMax> key{};
  };
  using Positions = std::array<Positional, KeyPaths::kPathsMax>;

  // `positions` belongs to the array that `object` is an element of; null at the top.
  Status Expand(State state, View object, const Positions* positions, View array_around) {
    Value array;           // the one array this level opens
    uint32_t through = 0;  // the paths that go through it, one bit each
    bool open = true;      // an array reached by position is a value itself, not its elements
    for (size_t i = 0; i < paths_.size(); ++i) {
      if (state.at[i] == paths_[i].size()) continue;
      bool nested = false;
      BRAID_TRY(const Step step, Next(i, state.at[i], object, positions, array_around, &nested));
      if (step.value.missing()) {
        state.key[i] = Value();
        state.at[i] = paths_[i].size();
        continue;
      }
      state.at[i] = step.next;
      state.key[i] = step.value;
      if (!step.value.Is(Type::kArray)) continue;
      if (array.missing()) {
        array = step.value;
      } else if (array.bytes().data() != step.value.bytes().data()) {
        return Status(Code::kCannotIndexParallelArrays, StrCat("cannot index parallel arrays [", paths_[i].text(),
                                                               "] [", paths_[std::countr_zero(through)].text(), "]"));
      }
      through |= uint32_t{1} << i;
      open = open && !(nested && step.next == paths_[i].size());
    }
    if (array.missing()) {
      visit_(KeyPaths::Key(state.key.data(), paths_.size()));
      return {};
    }
    return ExpandArray(state, array, through, open);
  }

 private:
  Result<Step> Next(size_t i, size_t at, View object, const Positions* positions, View array_around,
                    bool* nested) const {
    const Positional* positional =
        positions != nullptr && !(*positions)[i].element.missing() ? &(*positions)[i] : nullptr;
    if (positional == nullptr) return Descend(paths_[i], at, object);
    if (object.Has(paths_[i][at])) {
      return Status(
          Location(16746),
          StrCat("Ambiguous field name found in array (do not use numeric field names in embedded elements in "
                 "an array), field: '",
                 paths_[i][at], "' for array: ", bson::ToShell(array_around)));
    }
    *nested = positional->element.Is(Type::kArray);
    return positional->rest;
  }

  Status ExpandArray(State state, const Value& array, uint32_t through, bool open) {
    BRAID_ASSERT(through != 0);  // a path has led here
    const View elements = array.AsView();
    Positions positions;
    for (size_t i = 0; i < paths_.size(); ++i) {
      if ((through >> i & 1) == 0) continue;
      const size_t at = state.at[i];
      if (arrays_ != nullptr && (at < paths_[i].size() || open) && at <= 64) (*arrays_)[i] |= uint64_t{1} << (at - 1);
      if (at == paths_[i].size() || paths_[i].index(at) == FieldPath::kNoIndex) continue;
      positions[i].element = elements.At(static_cast<size_t>(paths_[i].index(at)));
      if (!positions[i].element.missing()) positions[i].rest = Descend(paths_[i], at, elements);
    }
    if (elements.empty()) {
      return ExpandElement(state, Value(Type::kUndefined, "", 0), array, through, true, nullptr);
    }
    for (const bson::Element& element : elements) {
      BRAID_CHECK_OK(ExpandElement(state, element.value, array, through, open, &positions));
    }
    return {};
  }

  Status ExpandElement(State state, const Value& element, const Value& array, uint32_t through, bool open,
                       const Positions* positions) {
    for (size_t i = 0; i < paths_.size(); ++i) {
      if ((through >> i & 1) != 0 && state.at[i] == paths_[i].size()) state.key[i] = open ? element : array;
    }
    const View object = element.Is(Type::kObject) ? element.AsView() : View();
    return Expand(state, object, positions, array.AsView());
  }

  const std::vector<FieldPath>& paths_;
  const std::function<void(KeyPaths::Key)>& visit_;
  KeyPaths::ArrayComponents* const arrays_;
};

}  // namespace

KeyPaths::KeyPaths(std::span<const std::string_view> paths) {
  BRAID_ASSERT(paths.size() <= kPathsMax);
  for (std::string_view path : paths) paths_.emplace_back(path);
}

bool KeyPaths::PlainKey(View document, std::span<Value> key) const {
  for (size_t i = 0; i < paths_.size(); ++i) {
    key[i] = Descend(paths_[i], 0, document).value;
    if (key[i].Is(Type::kArray)) return false;
  }
  return true;
}

Status KeyPaths::ForEachKey(View document, const std::function<void(Key)>& visit, ArrayComponents* arrays) const {
  if (arrays != nullptr) arrays->fill(0);
  return Enumeration(paths_, visit, arrays).Expand({}, document, nullptr, View());
}

}  // namespace braid::query
