// Growth: collects what a plan adds, marks it with its epoch, and keeps lengths, running sums and digests.
#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "patterns/timeline/grow.h"
#include "patterns/timeline/sums.h"

namespace braid {

using timeline::PlannedEpoch;

namespace {

constexpr const char* kMark = "epoch";

// `_id` comes first, and the mark is left to the Timeline.
bool IsMarkable(const Document& document) {
  auto field = document.begin();
  if (field == document.end() || field->key() != "_id") return false;
  for (++field; field != document.end(); ++field) {
    if (field->key() == kMark) return false;
  }
  return true;
}

bool IsSumName(const std::string& name) {
  return !name.empty() && name[0] != '$' && name.find_first_of(std::string_view(".\0", 2)) == std::string::npos;
}

}  // namespace

Growth::Growth(const TimelineOptions& options, Transaction& transaction, EpochState tip)
    : options_(options), transaction_(transaction), tip_(std::move(tip)) {}

Growth::~Growth() = default;

// The next epoch is taken to be as large as the largest so far.
bool Growth::full() const {
  if (epochs_.empty()) return false;
  const PlannedEpoch& last = *epochs_.back();
  const int64_t documents = documents_ + (sealed_ ? 0 : last.count) + std::max(epoch_documents_max_, last.count);
  const int64_t bytes = bytes_ + (sealed_ ? 0 : last.bytes) + std::max(epoch_bytes_max_, last.bytes);
  return documents > options_.transaction_documents_max || bytes > options_.transaction_bytes_max;
}

Status Growth::Begin(int64_t number, const std::string& hash, const std::string& parent) {
  BRAID_CHECK_OK(Seal());
  if (number < 0 || hash.empty()) {
    return Status(Code::kBadValue,
                  StrCat("epoch ", number, " with the hash '", hash, "': an epoch has a number from 0 and a hash"));
  }
  if (!tip_.empty() && number != tip_.number + 1) {
    return Status(Code::kTimelineGap, StrCat("epoch ", number, " cannot follow epoch ", tip_.number,
                                             ": the next one is ", tip_.number + 1));
  }
  if (!tip_.empty() && parent != tip_.hash) {
    return Status(Code::kTimelineFork,
                  StrCat("epoch ", number, ": its parent is ", parent, ", but epoch ", tip_.number, " is ", tip_.hash));
  }
  epochs_.push_back(std::make_unique<PlannedEpoch>(options_.collections.size()));
  sealed_ = false;
  tip_.number = number;
  tip_.parent = parent;  // first, as it may be tip().hash itself
  tip_.hash = hash;
  tip_.documents = 0;
  return {};
}

Document& Growth::New(const std::string& collection) {
  BRAID_ASSERT(!sealed_);  // Begin() first
  Finish();
  const auto place = std::find(options_.collections.begin(), options_.collections.end(), collection);
  BRAID_ASSERT(place != options_.collections.end());
  open_collection_ = static_cast<size_t>(place - options_.collections.begin());
  open_is_entry_ = false;
  PlannedEpoch& epoch = *epochs_.back();
  open_ = &epoch.owned.emplace_back();
  epoch.documents[open_collection_].push_back(open_->get());
  return *open_;
}

Document& Growth::Add(const std::string& collection) { return New(collection); }

Growth::Entry Growth::Append(const std::string& list, const Sums& sums) {
  Document& document = New(list);
  open_is_entry_ = true;
  const int64_t position = tip_.lengths[list]++;
  document.Append("_id", position);
  for (const auto& [name, addend] : sums) {
    std::string& running = tip_.sums[StrCat(list, ".", name)];
    auto sum = timeline::AddDecimals(running.empty() ? "0" : running, addend);
    if (sum && IsSumName(name)) {
      running = *std::move(sum);
    } else if (broken_.ok()) {
      broken_ = Status(Code::kBadValue, StrCat("epoch ", tip_.number, ", ", list, " ", position, ": the sum '", name,
                                               "' cannot take '", addend, "'"));
    }
  }
  return {.position = position, .document = document};
}

void Growth::Finish() {
  if (open_ == nullptr) return;
  const std::string& collection = options_.collections[open_collection_];
  if (!IsMarkable(*open_) && broken_.ok()) {
    broken_ = Status(Code::kBadValue, StrCat("epoch ", tip_.number, ", ", collection,
                                             ": a document must have its _id first and no field 'epoch'"));
  }
  if (open_is_entry_) {
    const std::string prefix = collection + ".";
    Document sums;
    for (auto sum = tip_.sums.lower_bound(prefix); sum != tip_.sums.end() && sum->first.starts_with(prefix); ++sum) {
      sums.Append(std::string_view(sum->first).substr(prefix.size()), sum->second);
    }
    open_->Append("sums", sums);
  }
  open_->Append(kMark, tip_.number);
  BRAID_ASSERT(!sealed_ && !epochs_.empty());
  PlannedEpoch& epoch = *epochs_.back();
  epoch.sum.Add(collection, *open_);
  epoch.bytes += static_cast<int64_t>(open_->bytes().size());
  ++epoch.count;
  open_ = nullptr;
}

Status Growth::Seal() {
  Finish();
  BRAID_CHECK_OK(broken_);
  if (sealed_) return {};
  PlannedEpoch& epoch = *epochs_.back();
  tip_.documents = epoch.count;
  tip_.digest =
      timeline::DigestOf({.before = tip_.digest, .number = tip_.number, .hash = tip_.hash, .documents = epoch.sum});
  epoch.state = tip_;
  documents_ += epoch.count;
  bytes_ += epoch.bytes;
  epoch_documents_max_ = std::max(epoch_documents_max_, epoch.count);
  epoch_bytes_max_ = std::max(epoch_bytes_max_, epoch.bytes);
  sealed_ = true;
  return {};
}

}  // namespace braid
