// Chains::Verify: finds the chains, verifies each one (if the store's files are damaged, the parts that can still be
// read), compares the stored nodes of its tree with the tree computed from its records, and finally checks the records
// that chains share.
#include "patterns/chains/verify.h"

#include <algorithm>
#include <map>
#include <thread>

#include "base/mutex.h"
#include "base/strings.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"
#include "patterns/chains/stored_tree.h"

namespace braid::chains {
namespace {

std::string NameOfNode(const ChainTreeNode& node) {
  return StrCat("node ", node.number, " of level ", node.level, " of the tree");
}

}  // namespace

Verification::Verification(Parts& parts, const VerifyOptions& options)
    : parts_(parts),
      options_(options),
      threads_(options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency())),
      helpers_(threads_ - 1) {}

Result<VerifyReport> Verification::Run() {
  BRAID_TRY(std::vector<int64_t> chains, ChainsToVerify());
  chains_left_ = chains.size();
  helpers_.Run(chains.size(), [&](size_t i) {
    Status status = VerifyChain(chains[i]);
    --chains_left_;
    const MutexLock lock(mu_);
    if (failure_.ok()) failure_ = std::move(status);
  });
  BRAID_CHECK_OK(Failure());
  BRAID_CHECK_OK(CompareShared());
  BRAID_CHECK_OK(NameRepeated(chains));
  const MutexLock lock(mu_);
  std::stable_sort(report_.damage.begin(), report_.damage.end(),
                   [](const ChainDamage& a, const ChainDamage& b) { return a.chain < b.chain; });
  report_.chains = static_cast<int64_t>(chains.size());
  return std::move(report_);
}

// All chains with a head and all chains with segments: each should have both. If one of the two lists cannot be read,
// the other one is used, and verifying its chains shows what is wrong.
Result<std::vector<int64_t>> Verification::ChainsToVerify() {
  std::vector<int64_t> chains = options_.chains;
  if (chains.empty()) {
    const Client client = parts_.clients.Acquire();
    Result<std::vector<int64_t>> log = ChainsInLog(client.get(), parts_.options);
    const Result<std::vector<int64_t>> heads = ChainsWithHead(client.get(), parts_.options, parts_.heads);
    if (!log.ok() && (!IsLost(log.error()) || !heads.ok())) return log.error();
    if (!heads.ok() && !IsLost(heads.error())) return heads.error();
    if (log.ok()) chains = *std::move(log);
    if (heads.ok()) chains.insert(chains.end(), heads->begin(), heads->end());
  }
  std::sort(chains.begin(), chains.end());
  chains.erase(std::unique(chains.begin(), chains.end()), chains.end());
  return chains;
}

// A record that a chain shares with another must be in that chain, too (C9). Costs 24 bytes per shared record and
// chain.
Status Verification::CompareShared() {
  std::vector<ChainVerifier::Shared> shared = TakeShared();
  std::sort(shared.begin(), shared.end());
  for (const ChainVerifier::Shared& side : shared) {
    const ChainVerifier::Shared mirror{side.sequence, side.other, side.chain};
    if (std::binary_search(shared.begin(), shared.end(), mirror)) continue;
    // The other chain is not verified, or the record was committed after that chain was read: so it is looked up.
    const Result<Has> stored = Find(side.other, side.sequence);
    if (!stored.ok() && !IsLost(stored.error())) return stored.error();
    if (stored.ok() && *stored != Has::kNo) continue;
    AddDamage({side.other, side.sequence,
               StrCat(stored.ok() ? "missing" : "cannot be read", ", although chain ", side.chain, " shares it")});
  }
  return {};
}

// F2: which chains have a sequence that came more than once is looked up. Beyond what the report names they are
// counted.
Status Verification::NameRepeated(const std::vector<int64_t>& chains) {
  for (const int64_t sequence : sequences_.repeated()) {
    if (CountedOnly()) continue;
    std::optional<int64_t> first;
    for (const int64_t chain : chains) {
      const Result<Has> found = Find(chain, sequence);
      if (!found.ok() && !IsLost(found.error())) return found.error();
      if (!found.ok() || *found != Has::kOwn) continue;
      if (first) AddDamage({chain, sequence, StrCat("is a record of chain ", *first, " too; sequences are unique")});
      if (!first) first = chain;
    }
  }
  return {};
}

Result<Verification::Has> Verification::Find(int64_t chain, int64_t sequence) {
  Has found = Has::kNo;
  const Client client = parts_.clients.Acquire();
  BRAID_CHECK_OK(FindSegments(client.get(), parts_.options, {.chain = chain, .from_sequence = sequence, .limit = 1},
                              [&](const bson_t& document) {
                                Segment segment;
                                if (!segment.Read(document).ok()) return Status();
                                const ChainRecordView* const record = segment.Find(sequence);
                                if (record != nullptr) found = IsFirstOfItsChains(*record) ? Has::kOwn : Has::kShared;
                                return Status();
                              }));
  return found;
}

Status Verification::Failure() {
  const MutexLock lock(mu_);
  return failure_;
}

std::vector<ChainVerifier::Shared> Verification::TakeShared() {
  const MutexLock lock(mu_);
  return std::move(shared_);
}

bool Verification::CountedOnly() {
  const MutexLock lock(mu_);
  if (report_.damage.size() < options_.damage_max) return false;
  ++report_.damaged;
  return true;
}

void Verification::AddDamage(ChainDamage damage) {
  const MutexLock lock(mu_);
  ++report_.damaged;
  if (report_.damage.size() < options_.damage_max) report_.damage.push_back(std::move(damage));
}

Status Verification::VerifyChain(int64_t chain) {
  const bool whole = options_.from_sequence <= 1;
  ChainVerifier verifier(chain, !whole, [this](ChainDamage damage) { AddDamage(std::move(damage)); });
  if (parts_.options.unique_sequences) {
    verifier.OnSegment([this](const Segment& segment) { sequences_.Add(segment); });
  }
  const Result<std::optional<ChainHead>> before = LoadHead(chain);
  if (!before.ok() && !IsLost(before.error())) return before.error();
  if (before.ok() && *before) verifier.ExpectHead(**before);
  const bool has_tree = whole && before.ok() && *before && (*before)->tree;
  if (has_tree) verifier.MakeTree();
  Status read = ReadSegments(chain, verifier);
  if (IsLost(read)) read = ReadWhatIsLeft(chain, verifier);
  BRAID_CHECK_OK(read);
  const Result<std::optional<ChainHead>> after = LoadHead(chain);
  if (!after.ok() && !IsLost(after.error())) return after.error();
  if (!before.ok() || !after.ok()) {
    AddDamage({chain, verifier.last_sequence(),
               StrCat("the head cannot be read: ", (before.ok() ? after : before).error().message())});
  } else if (whole || (*before && (*before)->sequence >= options_.from_sequence)) {
    verifier.Finish(*before, *after);
    if (has_tree && verifier.sound()) BRAID_CHECK_OK(CompareNodes(chain, verifier));
  }
  const MutexLock lock(mu_);
  report_.records += verifier.records();
  report_.payload_bytes += verifier.payload_bytes();
  shared_.insert(shared_.end(), verifier.shared().begin(), verifier.shared().end());
  return {};
}

Result<std::optional<ChainHead>> Verification::LoadHead(int64_t chain) {
  BRAID_TRY(const std::vector<ChainHead> heads, parts_.LoadHeads({&chain, 1}));
  return heads.empty() ? std::nullopt : std::optional(heads.front());
}

Status Verification::ReadSegments(int64_t chain, ChainVerifier& verifier) {
  const Client client = parts_.clients.Acquire();
  SegmentCursor cursor(client.get(), parts_.options,
                       {.chain = chain, .from_sequence = options_.from_sequence <= 1 ? 0 : options_.from_sequence});
  int64_t told = 0;
  const auto tell = [&] {
    Progress(verifier.records() - told);
    told = verifier.records();
  };
  // While there are as many chains as threads, no thread is idle that could help with this chain.
  while (chains_left_ >= threads_) {
    BRAID_TRY(const bson_t* document, cursor.Next());
    if (document == nullptr) return {};
    verifier.Add(*document);
    tell();
  }
  return CheckedSegments(cursor, chain, helpers_).Run([&](const SegmentCheck& check) {
    verifier.Add(check);
    tell();
  });
}

// Used after the store has met a damaged place.
Status Verification::ReadWhatIsLeft(int64_t chain, ChainVerifier& verifier) {
  const Client client = parts_.clients.Acquire();
  const int64_t after = std::max(verifier.last_sequence(), options_.from_sequence - 1);
  return Salvage(
      client.get(), parts_.options, chain, after,
      {.on_segment = [&](const bson_t& segment) { verifier.Add(segment); },
       .on_lost =
           [&](int64_t before, int64_t last, std::string_view why) {
             const std::string end = last == 0 ? std::string("on") : StrCat("up to ", last);
             verifier.AddUnreadable(before + 1, last, StrCat("the records from here ", end, " cannot be read: ", why));
           },
       .on_index_lost =
           [&](std::string_view why) {
             AddDamage({chain, verifier.last_sequence() + 1, StrCat("the index of the log cannot be read: ", why)});
           }});
}

void Verification::Progress(int64_t more) {
  const int64_t records = verified_.fetch_add(more) + more;
  if (options_.on_progress) options_.on_progress(records);
}

Status Verification::CompareNodes(int64_t chain, const ChainVerifier& verifier) {
  std::map<std::pair<int, int64_t>, ChainTreeNode> missing;
  for (const ChainTreeNode& node : verifier.nodes()) missing.emplace(std::pair(node.level, node.number), node);
  std::vector<ChainTreeNode> past;  // covers records that were not stored yet, or do not exist
  const Status read = EachNode(parts_, chain, [&](const Result<ChainTreeNode>& stored) {
    if (!stored.ok()) return AddDamage({chain, verifier.last_sequence(), std::string(stored.error().message())});
    const auto expected = missing.find({stored->level, stored->number});
    if (expected == missing.end()) return past.push_back(*stored);
    if (expected->second != *stored) {
      AddDamage(
          {chain, expected->second.last_sequence,
           StrCat(NameOfNode(*stored), ": expected the root ", HexOf(expected->second.root), " up to sequence ",
                  expected->second.last_sequence, ", got ", HexOf(stored->root), " up to ", stored->last_sequence)});
    }
    missing.erase(expected);
  });
  if (!read.ok() && !IsLost(read)) return read;
  if (!read.ok()) {
    AddDamage({chain, verifier.last_sequence(), StrCat("the tree cannot be read: ", read.message())});
    return {};
  }
  for (const auto& [place, node] : missing) {
    AddDamage({chain, node.last_sequence, StrCat(NameOfNode(node), " is missing")});
  }
  if (past.empty()) return {};
  BRAID_TRY(const std::optional<ChainHead> head, LoadHead(chain));
  const int64_t records = head ? head->records : 0;
  for (const ChainTreeNode& node : past) {
    if (node.number < records / ChainTreeNode::RecordsUnder(node.level)) continue;
    AddDamage({chain, node.last_sequence, StrCat(NameOfNode(node), " is over records that the chain does not have")});
  }
  return {};
}

}  // namespace braid::chains

namespace braid {

Result<VerifyReport> Chains::Verify(const VerifyOptions& options) {
  return chains::Verification(*parts_, options).Run();
}

}  // namespace braid
