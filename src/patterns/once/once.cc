#include "braid/once.h"
#include "base/assert.h"

#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid {
namespace {

using client::Bson;

constexpr const char* kAwaited = "awaited";  // the flag of a key that is known but for which nothing is done

void AppendFlags(const OnceOptions& options, uint32_t mask, Bson& document) {
  for (size_t i = 0; i < options.calculations.size(); ++i) {
    if ((mask >> i & 1) != 0) document.Bool(options.calculations[i].c_str(), true);
  }
}

using Flags = std::unordered_map<std::string, uint32_t>;

// The flags of those ids that the store knows.
Result<Flags> Read(Transaction& transaction, const Once& once, std::span<const std::string> ids) {
  Flags flags;
  flags.reserve(ids.size());
  BRAID_CHECK_OK(transaction.FindIds(once.options().collection, ids, [&](const Document& document) {
    flags.emplace(document.GetOr<std::string>("_id", ""), once.FlagsOf(document));
    return Status();
  }));
  return flags;
}

// Documents to insert and to change, alive until they are sent.
class FlagWrites {
 public:
  explicit FlagWrites(const OnceOptions& options) : options_(options) {}

  void Insert(const std::string& id, uint32_t mask) {
    Bson& document = New();
    document.Text("_id", id);
    AppendFlags(options_, mask, document);
    inserts_.push_back(document.get());
  }
  void Update(const std::string& id, uint32_t mask) {
    Bson& filter = New();
    filter.Text("_id", id);
    Bson flags;
    AppendFlags(options_, mask, flags);
    Bson& change = New();
    change.Document("$set", flags);
    updates_.push_back({.filter = filter.get(), .change = change.get()});
  }
  Status Send(Transaction& transaction) {
    BRAID_CHECK_OK(transaction.Insert(options_.collection, inserts_));
    return transaction.UpdateOnes(options_.collection, updates_).status();
  }

 private:
  Bson& New() { return parts_.emplace_back(); }

  const OnceOptions& options_;
  std::deque<Bson> parts_;
  std::vector<const bson_t*> inserts_;
  std::vector<Transaction::Update> updates_;
};

}  // namespace

Status OnceOptions::Validate() const {
  if (calculations.empty() || calculations.size() > kCalculationsMax) {
    return Status(Code::kBadValue, StrCat("there are 1 to ", kCalculationsMax, " calculations"));
  }
  for (const std::string& name : calculations) {
    if (name.empty() || name == "_id" || name == kAwaited || name.find_first_of(".$") != std::string::npos) {
      return Status(Code::kBadValue, StrCat("'", name, "' cannot be the name of a calculation: it is a field's name"));
    }
  }
  return {};
}

Result<Once> Once::Open(OnceOptions options) {
  BRAID_CHECK_OK(options.Validate());
  return Once(std::move(options));
}

uint32_t Once::FlagsOf(const Document& document) const {
  uint32_t flags = 0;
  for (size_t i = 0; i < options_.calculations.size(); ++i) {
    if (client::BoolOf(document.get(), options_.calculations[i].c_str())) flags |= uint32_t{1} << i;
  }
  return flags;
}

Result<std::vector<Once::Claimed>> Once::Claim(Transaction& transaction, std::span<const std::string> ids) const {
  return Claim(transaction, ids, std::vector<uint32_t>(ids.size(), all()));
}

Result<std::vector<Once::Claimed>> Once::Claim(Transaction& transaction, std::span<const std::string> ids,
                                               std::span<const uint32_t> masks) const {
  BRAID_TRY(const Flags done, Read(transaction, *this, ids));
  BRAID_ASSERT(masks.size() == ids.size());
  std::vector<Claimed> claimed(ids.size());
  std::unordered_set<std::string_view> seen;
  seen.reserve(ids.size());
  FlagWrites writes(options_);
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!seen.insert(ids[i]).second) {
      claimed[i].known = true;
      continue;
    }
    const auto known = done.find(ids[i]);
    claimed[i].known = known != done.end();
    claimed[i].missing = claimed[i].known ? masks[i] & ~known->second : masks[i];
    if (claimed[i].missing == 0) continue;
    if (claimed[i].known) {
      writes.Update(ids[i], claimed[i].missing);
    } else {
      writes.Insert(ids[i], claimed[i].missing);
    }
  }
  BRAID_CHECK_OK(writes.Send(transaction));
  return claimed;
}

Result<std::vector<uint32_t>> Once::Done(Transaction& transaction, std::span<const std::string> ids) const {
  BRAID_TRY(const Flags flags, Read(transaction, *this, ids));
  std::vector<uint32_t> done;
  done.reserve(ids.size());
  for (const std::string& id : ids) {
    const auto known = flags.find(id);
    done.push_back(known == flags.end() ? 0 : known->second);
  }
  return done;
}

Status Once::Await(Transaction& transaction, std::span<const std::string> ids) const {
  Bson awaited;
  awaited.Bool(kAwaited, true);
  Bson change;
  change.Document("$set", awaited);  // a change, so that it collides with a Claim() at the same time
  std::deque<Bson> filters;
  std::vector<Transaction::Update> updates;
  for (const std::string& id : ids) {
    updates.push_back({.filter = filters.emplace_back().Text("_id", id).get(), .change = change.get(), .upsert = true});
  }
  return transaction.UpdateOnes(options_.collection, updates).status();
}

Status Once::ForEachMissing(Clients& clients, uint32_t mask, size_t batch,
                            const std::function<Status(std::span<const std::string>)>& each) const {
  Bson by_id;
  by_id.Integer("_id", 1);
  Bson not_true;
  not_true.Bool("$ne", true);
  std::string last;
  while (true) {
    Bson filter;
    Bson after;
    after.Text("$gt", last);
    filter.Document("_id", after);
    Bson any;
    uint32_t branches = 0;
    for (size_t i = 0; i < options_.calculations.size(); ++i) {
      if ((mask >> i & 1) == 0) continue;
      Bson branch;
      branch.Document(options_.calculations[i].c_str(), not_true);
      any.Document(StrCat(branches++).c_str(), branch);
    }
    if (branches == 0) return {};
    filter.Array("$or", any);
    std::vector<std::string> ids;
    BRAID_CHECK_OK(RunTransaction(clients, {.database = options_.database}, [&](Transaction& transaction) {
      ids.clear();
      const Transaction::FindOptions options{.sort = by_id.get(), .limit = static_cast<int64_t>(batch)};
      return transaction.Find(options_.collection, filter.get(), options, [&](const bson_t& document) {
        ids.emplace_back(client::TextOf(&document, "_id"));
        return Status();
      });
    }));
    if (ids.empty()) return {};
    last = ids.back();
    BRAID_CHECK_OK(each(ids));
  }
}

}  // namespace braid
