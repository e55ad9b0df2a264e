// Candidates: the shard keys worth rating when none are given.
#include "cli/advise/rating.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "base/strings.h"
#include "engine/exec/plan/conditions.h"

namespace braid::advise {
namespace {

using query::MatchNode;
using query::MatchOp;

constexpr size_t kEqualityFieldsMax = 8;
constexpr size_t kRangeFieldsMax = 4;
constexpr size_t kCompoundsPerField = 2;
constexpr size_t kDepthMax = 4;       // of a field's path
constexpr size_t kPathsMax = 1000;    // of documents with ever new names
constexpr size_t kScannedMax = 2000;  // documents that are looked at for what fields there are

struct Use {
  double equality = 0;
  double range = 0;
};

// The paths one operation asks for, by kind.
struct Asked {
  std::set<std::string> equality;
  std::set<std::string> range;
};

void Collect(const MatchNode& node, Asked& asked) {
  const auto conditions = query::plan::Conditions::Of(node);
  for (const query::plan::Condition& condition : conditions.list) {
    if (condition.scope != nullptr) continue;
    switch (condition.node->op()) {
      case MatchOp::kEq:
      case MatchOp::kIn: asked.equality.insert(condition.path); break;
      case MatchOp::kLt:
      case MatchOp::kLte:
      case MatchOp::kGt:
      case MatchOp::kGte:
      case MatchOp::kRegex: asked.range.insert(condition.path); break;
      default: break;
    }
  }
  for (const MatchNode* conjunct : conditions.conjuncts) {
    if (conjunct->op() != MatchOp::kOr) continue;
    for (const auto& branch : conjunct->children()) Collect(*branch, asked);
  }
}

Asked PathsOf(const Workload::Entry& entry) {
  Asked asked;
  for (const query::Filter& part : entry.filter.parts()) Collect(part.root(), asked);
  for (const bson::Element& field : entry.operation.sort.view()) asked.range.insert(std::string(field.name));
  return asked;
}

// Paths of scalars, in the order of the documents.
void AddPaths(bson::View object, const std::string& prefix, size_t depth, std::vector<std::string>& paths,
              std::unordered_set<std::string>& seen) {
  for (const bson::Element& field : object) {
    if (paths.size() >= kPathsMax) return;
    if (field.name.empty() || field.name.find_first_of(".$") != std::string_view::npos) continue;
    std::string path = prefix + std::string(field.name);
    if (field.value.Is(bson::Type::kArray) || field.value.Is(bson::Type::kRegex)) continue;
    if (field.value.Is(bson::Type::kObject)) {
      if (depth < kDepthMax) AddPaths(field.value.AsView(), path + ".", depth + 1, paths, seen);
    } else if (seen.insert(path).second) {
      paths.push_back(std::move(path));
    }
  }
}

class Finder {
 public:
  Finder(const Sample& sample, const Workload& workload, size_t shards) : sample_(sample), shards_(shards) {
    std::unordered_set<std::string> seen;
    const size_t scanned = std::min(sample.documents.size(), kScannedMax);
    for (size_t i = 0; i < scanned; ++i) AddPaths(sample.documents[i], "", 1, paths_, seen);
    for (const Workload::Entry& entry : workload.entries) {
      const Asked asked = PathsOf(entry);
      const double weight = entry.operation.weight;
      for (const std::string& path : asked.equality) use_[path].equality += weight;
      for (const std::string& path : asked.range) use_[path].range += weight;
      for (const std::string& path : asked.equality) {
        for (const std::string& other : asked.equality) beside_[path].insert(other);
        for (const std::string& other : asked.range) beside_[path].insert(other);
      }
    }
  }

  std::vector<ShardKey> Find() {
    AddBoth("_id");
    const std::vector<std::string> fields = use_.empty() ? ByDistinct() : ByUse(&Use::equality, kEqualityFieldsMax);
    for (const std::string& path : fields) AddBoth(path);
    for (const std::string& path : ByUse(&Use::range, kRangeFieldsMax)) Add({{path, false}});
    for (const std::string& path : fields) {
      if (path != "_id") AddCompounds(path);
    }
    return std::move(keys_);
  }

 private:
  void Add(std::vector<ShardKey::Field> fields) {
    ShardKey key(std::move(fields));
    if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys_.push_back(std::move(key));
  }
  void AddBoth(const std::string& path) {
    Add({{path, true}});
    Add({{path, false}});
  }

  // Values of the sample; 0 if it cannot be a key: nothing there, an array, or a document.
  size_t DistinctOf(const std::string& path) {
    const auto [at, is_new] = distinct_.emplace(path, 0);
    if (!is_new || std::find(paths_.begin(), paths_.end(), path) == paths_.end()) return at->second;
    const ShardKey key({{path, false}});
    std::unordered_set<std::string> values;
    for (const bson::Document& document : sample_.documents) {
      const auto value = key.ValuesOf(document);
      if (!value || value->front().Is(bson::Type::kObject)) return 0;
      values.insert(key.Encode(*value));
    }
    return at->second = values.size();
  }

  std::vector<std::string> ByUse(double Use::*kind, size_t most) {
    std::vector<std::string> paths;
    for (const auto& [path, use] : use_) {
      if (use.*kind > 0 && DistinctOf(path) > 0) paths.push_back(path);
    }
    std::stable_sort(paths.begin(), paths.end(),
                     [&](const std::string& a, const std::string& b) { return use_[a].*kind > use_[b].*kind; });
    paths.resize(std::min(paths.size(), most));
    return paths;
  }

  std::vector<std::string> ByDistinct() {
    std::vector<std::string> paths;
    for (const std::string& path : paths_) {
      if (path != "_id" && DistinctOf(path) > 1) paths.push_back(path);
    }
    std::stable_sort(paths.begin(), paths.end(),
                     [&](const std::string& a, const std::string& b) { return DistinctOf(a) > DistinctOf(b); });
    paths.resize(std::min(paths.size(), kEqualityFieldsMax));
    return paths;
  }

  // The second field divides what the first one cannot.
  void AddCompounds(const std::string& first) {
    std::vector<std::string> seconds;
    for (const std::string& path : beside_[first]) {
      const bool many = DistinctOf(path) >= std::min(10 * shards_, sample_.documents.size() / 2);
      if (path != first && path != "_id" && many) seconds.push_back(path);
    }
    std::stable_sort(seconds.begin(), seconds.end(),
                     [&](const std::string& a, const std::string& b) { return DistinctOf(a) > DistinctOf(b); });
    seconds.resize(std::min(seconds.size(), kCompoundsPerField - 1));
    seconds.emplace_back("_id");
    for (const std::string& second : seconds) Add({{first, false}, {second, false}});
  }

  const Sample& sample_;
  const size_t shards_;
  std::vector<std::string> paths_;
  std::map<std::string, Use> use_;
  std::map<std::string, std::set<std::string>> beside_;  // fields that operations ask for together with this one
  std::map<std::string, size_t> distinct_;
  std::vector<ShardKey> keys_;
};

}  // namespace

std::vector<ShardKey> FindCandidates(const Sample& sample, const Workload& workload, size_t shards) {
  return Finder(sample, workload, shards).Find();
}

}  // namespace braid::advise
