// Views::Rebuild: new generations beside the present ones, and the switch.
//
// A view is built in a collection of its own, with marks of its own. The switch is one transaction: the marks of the
// new one become those of the view, as being moved. Then the collection is renamed to the view's name, and the marks
// are settled. Nothing is applied while marks are being moved, so it does not matter which process does the rest, or
// when: a process that finds such a view finishes the move first.
#include <algorithm>
#include <deque>

#include "base/assert.h"
#include "base/strings.h"
#include "client/handles.h"
#include "services/settlement/views/follow.h"

namespace braid::settlement {
namespace {

using views::Generation;
using views::Marks;
using views::Target;

class Rebuilding {
 public:
  enum class Switched { kYes, kNotYet, kNever };

  Rebuilding(views::Core& core, View view) : core_(core), view_(view) {}

  View view() const { return view_; }
  Target target() const {
    BRAID_ASSERT(number_ != 0 && !collection_.empty());  // Begin() has chosen them
    return {.view = view_, .generation = number_, .collection = collection_};
  }

  // Continues an earlier run. The collection is created before any other process knows its name, and the name is never
  // reused: so the collection cannot be recreated after it was renamed.
  Status Begin() {
    BRAID_CHECK_OK(Finish());
    BRAID_TRY(const Generation seen, views::LoadGeneration(core_.clients, core_.options.database, view_));
    std::string made;
    if (seen.building == 0 || seen.next.empty()) {
      made = views::NewCollectionName(view_, seen.last + 1);
      BRAID_CHECK_OK(views::CreateCollection(core_.clients, core_.options.database, view_, made));
    }
    BRAID_CHECK_OK(InTransaction([&](Transaction& transaction, Generation& now) -> Status {
      if (now.building != 0 && now.next.empty()) BRAID_CHECK_OK(Forget(transaction, now));
      const bool fresh = now.building == 0 && !made.empty();
      if (now.building == 0 && !fresh) return Status(Code::kConflictingOperationInProgress, kGivenUp);
      if (fresh) {
        now.building = ++now.last;
        now.next = made;
      }
      number_ = now.building;
      collection_ = now.next;
      if (!fresh) return {};
      BRAID_CHECK_OK(views::StoreGeneration(transaction, view_, now, false));
      return Marks::Create(transaction, collection_);
    }));
    if (made.empty() || made == collection_) return {};
    const Client client = core_.clients.Acquire();  // another process was faster
    return client::DropCollection(client.get(), core_.options.database, made);
  }

  // kNotYet: the present generation has records that the new one lacks. kNever: it had them before the latest pass,
  // which should have found them in the log. Moving the marks conflicts with every transaction that is applying records
  // to either generation, so none of them is lost.
  Result<Switched> Switch() {
    Switched switched = Switched::kNotYet;
    std::map<int64_t, int64_t> highest;
    BRAID_CHECK_OK(InTransaction([&](Transaction& transaction, Generation& now) -> Status {
      switched = now.number >= number_ ? Switched::kYes : Switched::kNotYet;
      if (switched == Switched::kYes) return {};
      if (now.building != number_) return Status(Code::kConflictingOperationInProgress, kGivenUp);
      BRAID_TRY(const Marks present, Marks::Load(transaction, now.collection, Marks::All()));
      BRAID_TRY(const Marks next, Marks::Load(transaction, collection_, {}));
      highest = present.Highest();
      if (!Has(next, wanted_)) switched = Switched::kNever;
      if (!Has(next, highest)) return {};
      switched = Switched::kYes;
      return Replace(transaction, now);
    }));
    wanted_ = std::move(highest);
    return switched;
  }

  Status Finish() {
    BRAID_CHECK_OK(views::FinishMove(core_.clients, core_.options.database, view_));
    return views::DropDead(core_.clients, core_.options.database, view_);
  }

  /// Keeps the present generation and reports why.
  Result<std::string> GiveUp(const FollowReport& report) {
    BRAID_CHECK_OK(InTransaction([&](Transaction& transaction, Generation& now) -> Status {
      if (now.building != number_) return {};
      now.building = 0;
      now.next.clear();
      now.dead.push_back(collection_);
      BRAID_CHECK_OK(Marks::Remove(transaction, collection_));
      return views::StoreGeneration(transaction, view_, now, false);
    }));
    BRAID_CHECK_OK(Finish());
    std::string damage;
    if (!report.damage.empty()) {
      const ChainDamage& first = report.damage.front();
      damage = StrCat(" (symbol ", first.chain, ", output ", first.sequence, ": ", first.what, ")");
    }
    return StrCat("the present view ", NameOf(view_), " has records that the log cannot give any more", damage,
                  "; it was left as it is");
  }

 private:
  static constexpr const char* kGivenUp = "another process has ended this rebuild: try again";

  Status InTransaction(const std::function<Status(Transaction&, Generation&)>& body) {
    return RunTransaction(core_.clients, core_.InTransaction(), [&](Transaction& transaction) -> Status {
      BRAID_TRY(Generation now, views::GetGeneration(transaction, view_));
      return body(transaction, now);
    });
  }

  // A build begun by an earlier version, whose rows have no times.
  Status Forget(Transaction& transaction, Generation& now) const {
    const std::string old = StrCat(NameOf(view_), "_g", now.building);
    now.dead.push_back(old);
    now.building = 0;
    return Marks::Remove(transaction, old);
  }

  // An earlier version gave every generation another name; what it has left is dropped.
  Status Replace(Transaction& transaction, Generation& now) {
    const std::string name = NameOf(view_);
    if (now.collection != name) {
      BRAID_CHECK_OK(Marks::Remove(transaction, now.collection));
      now.dead.push_back(now.collection);
    }
    BRAID_CHECK_OK(Marks::Move(transaction, collection_, name));
    now.number = number_;
    now.collection = name;
    now.building = 0;
    now.next.clear();
    now.moving = collection_;
    now.has_times = true;
    now.stuck.clear();
    return views::StoreGeneration(transaction, view_, now, false);
  }

  static bool Has(const Marks& marks, const std::map<int64_t, int64_t>& sequences) {
    return std::all_of(sequences.begin(), sequences.end(), [&](const auto& entry) {
      return views::SequenceOf(marks.floor(), entry.first) >= entry.second;
    });
  }

  views::Core& core_;
  const View view_;
  int64_t number_ = 0;
  std::string collection_;
  std::map<int64_t, int64_t> wanted_;  // what the present one had when it was last looked at, by chain
};

}  // namespace

Result<RebuildReport> Views::Rebuild(std::span<const View> chosen, const FollowOptions& options) {
  std::deque<Rebuilding> building;
  for (const View view : chosen) BRAID_CHECK_OK(building.emplace_back(*core_, view).Begin());
  RebuildReport report;
  while (!building.empty()) {
    BRAID_CHECK_OK(core_->CheckStop());
    report.replay.damage.clear();
    std::vector<Target> targets;
    targets.reserve(building.size());
    for (const Rebuilding& one : building) targets.push_back(one.target());
    const Status followed = views::FollowTargets(*core_, targets, options, report.replay);
    // Another process that rebuilds the same view may have finished it.
    if (!followed.ok() && followed.code() != Code::kConflictingOperationInProgress) return followed;
    std::deque<Rebuilding> left;
    for (Rebuilding& one : building) {
      BRAID_TRY(const Rebuilding::Switched switched, one.Switch());
      switch (switched) {
        case Rebuilding::Switched::kYes: BRAID_CHECK_OK(one.Finish()); break;
        case Rebuilding::Switched::kNotYet: left.push_back(std::move(one)); break;
        case Rebuilding::Switched::kNever: {
          BRAID_TRY(std::string why, one.GiveUp(report.replay));
          report.kept.push_back(std::move(why));
        }
      }
    }
    building.swap(left);
  }
  return report;
}

Result<FollowReport> Views::Rebuild(View view, const FollowOptions& options) {
  BRAID_TRY(RebuildReport report, Rebuild({&view, 1}, options));
  if (!report.kept.empty()) return Status(Code::kRecordDamaged, report.kept.front());
  return std::move(report.replay);
}

}  // namespace braid::settlement
