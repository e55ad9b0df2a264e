// Views::Rebuild: a new generation beside the present one, and the switch.
#include <algorithm>

#include "base/strings.h"
#include "services/settlement/views/follow.h"

namespace braid::settlement {
namespace {

using views::Generation;
using views::Marks;

class Rebuilding {
 public:
  Rebuilding(views::Parts& parts, View view) : parts_(parts), view_(view) {}

  Result<FollowReport> Run(const FollowOptions& options) {
    BRAID_CHECK_OK(views::DropDead(parts_.clients, parts_.options.database, view_));
    BRAID_CHECK_OK(Begin());
    BRAID_CHECK_OK(views::CreateCollection(parts_.clients, parts_.options.database, view_, collection_));
    FollowReport report;
    for (;;) {
      BRAID_CHECK_OK(parts_.CheckStop());
      report.damage.clear();
      const Status followed = views::FollowTargets(parts_, {{view_, collection_}}, options, report);
      // Another process that rebuilds the same view may have finished it.
      if (!followed.ok() && followed.code() != Code::kConflictingOperationInProgress) return followed;
      BRAID_TRY(const Switched switched, Switch());
      if (switched == Switched::kYes) break;
      if (switched == Switched::kNever) return GiveUp(report);
    }
    BRAID_CHECK_OK(views::DropDead(parts_.clients, parts_.options.database, view_));
    return report;
  }

 private:
  enum class Switched { kYes, kNotYet, kNever };

  Status InTransaction(const std::function<Status(Transaction&, Generation&)>& body) {
    return RunTransaction(parts_.clients, parts_.InTransaction(), [&](Transaction& transaction) -> Status {
      BRAID_TRY(Generation now, views::GetGeneration(transaction, view_));
      return body(transaction, now);
    });
  }

  // Goes on with what an earlier run has left. A number is never given twice, so a collection of a given-up build
  // cannot be taken for this one.
  Status Begin() {
    return InTransaction([&](Transaction& transaction, Generation& now) -> Status {
      const bool fresh = now.building == 0;
      if (fresh) now.building = ++now.last;
      number_ = now.building;
      collection_ = views::CollectionName(view_, number_);
      if (!fresh) return {};
      BRAID_CHECK_OK(views::StoreGeneration(transaction, view_, now, false));
      return Marks::Create(transaction, collection_);
    });
  }

  // kNotYet: the present one has records that the new one lacks. kNever: it had them before the latest pass, which
  // should have found them in the log. Removing the marks collides with everyone who applies to the present one right
  // now, so that neither can miss the other.
  Result<Switched> Switch() {
    Switched switched = Switched::kNotYet;
    std::map<int64_t, int64_t> highest;
    BRAID_CHECK_OK(InTransaction([&](Transaction& transaction, Generation& now) -> Status {
      switched = now.number >= number_ ? Switched::kYes : Switched::kNotYet;
      if (switched == Switched::kYes) return {};
      if (now.building != number_) {
        return Status(Code::kConflictingOperationInProgress, "another process has given up this rebuild: try again");
      }
      BRAID_TRY(const Marks present, Marks::Load(transaction, now.collection, Marks::All()));
      BRAID_TRY(const Marks next, Marks::Load(transaction, collection_, {}));
      highest = present.Highest();
      if (!Has(next, wanted_)) switched = Switched::kNever;
      if (!Has(next, highest)) return {};
      BRAID_CHECK_OK(Marks::Remove(transaction, now.collection));
      now.dead.push_back(now.collection);
      now.number = number_;
      now.collection = collection_;
      now.building = 0;
      switched = Switched::kYes;
      return views::StoreGeneration(transaction, view_, now, false);
    }));
    wanted_ = std::move(highest);
    return switched;
  }

  static bool Has(const Marks& marks, const std::map<int64_t, int64_t>& sequences) {
    return std::all_of(sequences.begin(), sequences.end(), [&](const auto& entry) {
      return views::SequenceOf(marks.floor(), entry.first) >= entry.second;
    });
  }

  Status GiveUp(const FollowReport& report) {
    BRAID_CHECK_OK(InTransaction([&](Transaction& transaction, Generation& now) -> Status {
      if (now.building != number_) return {};
      now.building = 0;
      now.dead.push_back(collection_);
      BRAID_CHECK_OK(Marks::Remove(transaction, collection_));
      return views::StoreGeneration(transaction, view_, now, false);
    }));
    BRAID_CHECK_OK(views::DropDead(parts_.clients, parts_.options.database, view_));
    std::string damage;
    if (!report.damage.empty()) {
      const ChainDamage& first = report.damage.front();
      damage = StrCat(" (symbol ", first.chain, ", output ", first.sequence, ": ", first.what, ")");
    }
    return Status(Code::kRecordDamaged,
                  StrCat("the present view ", NameOf(view_), " has records that the log cannot give any more", damage,
                         "; it was left as it is"));
  }

  views::Parts& parts_;
  const View view_;
  int64_t number_ = 0;
  std::string collection_;
  std::map<int64_t, int64_t> wanted_;  // what the present one had when it was last looked at, by chain
};

}  // namespace

Result<FollowReport> Views::Rebuild(View view, const FollowOptions& options) {
  return Rebuilding(*parts_, view).Run(options);
}

}  // namespace braid::settlement
