// Random updates against a plain model: a tree of maps and vectors that is changed one operator after the other, in
// path order.
#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "base/testing/testing.h"
#include "engine/language/update/testing.h"

namespace braid::update::test {
namespace {

struct Field;
struct Model;
using Fields = std::vector<Field>;
using Items = std::vector<Model>;

/// null, a number, a document or an array.
struct Model {
  std::variant<std::monostate, int, Fields, Items> value;
};
struct Field {
  std::string name;
  Model model;
};

std::string ToText(const Model& model) {
  if (const int* number = std::get_if<int>(&model.value)) return std::to_string(*number);
  std::string text;
  if (const auto* fields = std::get_if<Fields>(&model.value)) {
    for (const auto& [name, field] : *fields) text += StrCat(text.empty() ? "" : ", ", "'", name, "': ", ToText(field));
    return StrCat("{", text, "}");
  }
  if (const auto* items = std::get_if<Items>(&model.value)) {
    for (const Model& item : *items) text += StrCat(text.empty() ? "" : ", ", ToText(item));
    return StrCat("[", text, "]");
  }
  return "null";
}

Model* Child(Model& model, const std::string& part) {
  if (auto* fields = std::get_if<Fields>(&model.value)) {
    for (auto& [name, field] : *fields) {
      if (name == part) return &field;
    }
  } else if (auto* items = std::get_if<Items>(&model.value); items != nullptr && std::isdigit(part[0])) {
    const size_t index = std::stoul(part);
    if (index < items->size()) return &(*items)[index];
  }
  return nullptr;
}

using Path = std::vector<std::string>;
struct Step {
  std::string op;
  Path path;
  int number;
};

/// The code of the error, 0 if there is none.
int Create(Model& at, Path::const_iterator part, Path::const_iterator end, Model leaf) {
  for (auto it = end; it != part + 1;) leaf = Model{Fields{{*--it, std::move(leaf)}}};
  if (auto* fields = std::get_if<Fields>(&at.value)) {
    fields->push_back({*part, std::move(leaf)});
    return 0;
  }
  auto* items = std::get_if<Items>(&at.value);
  if (items == nullptr || !std::isdigit((*part)[0])) return 28;
  while (items->size() < std::stoul(*part)) items->emplace_back();
  items->push_back(std::move(leaf));
  return 0;
}

int ApplyToExisting(const Step& step, Model& parent, Model& target) {
  if (step.op == "$set") target = Model{step.number};
  int* number = std::get_if<int>(&target.value);
  auto* items = std::get_if<Items>(&target.value);
  if (step.op == "$unset") {
    if (auto* fields = std::get_if<Fields>(&parent.value)) {
      std::erase_if(*fields, [&](const auto& field) { return field.name == step.path.back(); });
    } else {
      target = Model{};
    }
  } else if (step.op == "$inc") {
    if (number == nullptr) return 14;
    *number += step.number;
  } else if (step.op == "$push") {
    if (items == nullptr) return 2;
    items->push_back(Model{step.number});
  } else if (step.op == "$pop") {
    if (items == nullptr) return 14;
    if (!items->empty()) items->pop_back();
  } else if (step.op == "$pull") {
    if (items == nullptr) return 2;
    std::erase_if(*items, [&](const Model& item) {
      const int* other = std::get_if<int>(&item.value);
      return other != nullptr && *other == step.number;
    });
  }
  return 0;
}

int ApplyStep(const Step& step, Model& root) {
  Model* parent = nullptr;
  Model* at = &root;
  auto part = step.path.begin();
  for (; part != step.path.end(); ++part) {
    Model* child = Child(*at, *part);
    if (child == nullptr) break;
    parent = at;
    at = child;
  }
  if (part == step.path.end()) return ApplyToExisting(step, *parent, *at);
  if (step.op == "$unset") return 0;
  if (step.op == "$pop" || step.op == "$pull") {
    const bool viable = std::holds_alternative<Fields>(at->value) ||
                        (std::holds_alternative<Items>(at->value) && std::isdigit((*part)[0]));
    return viable ? 0 : 28;
  }
  return Create(*at, part, step.path.end(), step.op == "$push" ? Model{Items{Model{step.number}}} : Model{step.number});
}

class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  Model RandomModel(int depth) {
    const uint64_t kind = random_.Below(depth > 0 ? 5 : 2);
    if (kind == 0) return {};
    if (kind == 1) return Model{static_cast<int>(random_.Below(3))};
    if (kind == 2) {
      Items items;
      for (uint64_t i = random_.Below(4); i > 0; --i) items.push_back(RandomModel(depth - 1));
      return Model{std::move(items)};
    }
    return Model{RandomFields(depth)};
  }

  Fields RandomFields(int depth) {
    Fields fields;
    for (const char* name : {"c", "a", "0", "b", "10", "2"}) {
      if (random_.Chance(1, 2)) fields.push_back({name, RandomModel(depth - 1)});
    }
    return fields;
  }

  Step RandomStep() {
    constexpr const char* kOps[] = {"$set", "$unset", "$inc", "$push", "$pop", "$pull"};
    constexpr const char* kParts[] = {"a", "b", "c", "0", "2", "10"};
    Step step{kOps[random_.Below(6)], {}, static_cast<int>(random_.Below(3))};
    for (uint64_t i = 1 + random_.Below(3); i > 0; --i) step.path.emplace_back(kParts[random_.Below(6)]);
    return step;
  }

  Random& random() { return random_; }

 private:
  Random random_;
};

std::string Dotted(const Path& path) {
  std::string text;
  for (const std::string& part : path) text += (text.empty() ? "" : ".") + part;
  return text;
}

bool PathLess(const Path& a, const Path& b) {
  return std::ranges::lexicographical_compare(a, b, [](const std::string& x, const std::string& y) {
    const bool digits[] = {std::isdigit(x[0]) != 0, std::isdigit(y[0]) != 0};
    if (digits[0] != digits[1]) return digits[0];
    return digits[0] ? std::stoi(x) < std::stoi(y) : x < y;
  });
}

bool Overlap(const Path& a, const Path& b) {
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())), b.begin());
}

std::string ModelOutcome(std::vector<Step> steps, Model& model) {
  for (size_t i = 0; i < steps.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (Overlap(steps[i].path, steps[j].path)) return "!40";
    }
  }
  std::ranges::stable_sort(steps, PathLess, &Step::path);
  for (const Step& step : steps) {
    if (const int code = ApplyStep(step, model); code != 0) return StrCat("!", code);
  }
  return ToText(model);
}

TEST(UpdateModel, RandomUpdatesGiveTheSameDocument) {
  Generator generator(braid::test::Seed());
  int changed = 0;
  int failed = 0;
  for (int round = 0; round < 3000; ++round) {
    Model model{generator.RandomFields(3)};
    std::get<Fields>(model.value).insert(std::get<Fields>(model.value).begin(), Field{"_id", Model{1}});
    const std::string before = ToText(model);
    std::vector<Step> steps;
    std::map<std::string, std::string> operators;
    for (uint64_t i = 1 + generator.random().Below(4); i > 0; --i) {
      const Step step = steps.emplace_back(generator.RandomStep());
      std::string& fields = operators[step.op];
      const int operand = step.op == "$pop" ? 1 : step.number;
      fields += StrCat(fields.empty() ? "" : ", ", "'", Dotted(step.path), "': ", operand);
    }
    std::string update;
    for (const auto& [op, fields] : operators)
      update += StrCat(update.empty() ? "" : ", ", "'", op, "': {", fields, "}");
    update = StrCat("{", update, "}");

    std::string want = ModelOutcome(steps, model);
    if (want == before) want = "=";
    const Case c{before.c_str(), update.c_str(), want.c_str()};
    ASSERT_EQ(RunCase(c), Expected(c)) << before << " with " << update;
    changed += want[0] == '{' ? 1 : 0;
    failed += want[0] == '!' ? 1 : 0;
  }
  EXPECT_GT(changed, 100);  // the generator must not lose itself in errors
  EXPECT_GT(failed, 100);
}

}  // namespace
}  // namespace braid::update::test
