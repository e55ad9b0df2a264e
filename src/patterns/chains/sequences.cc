#include "patterns/chains/sequences.h"

#include "base/mutex.h"

namespace braid::chains {

std::optional<int64_t> RecentSequences::Claim(int64_t sequence, int64_t chain) {
  const MutexLock lock(mu_);
  if (places_.empty()) places_.resize(kPlaces);
  Place& place = places_[static_cast<uint64_t>(sequence) % kPlaces];
  if (place.sequence == sequence && place.chain != chain) return place.chain;
  if (sequence > place.sequence) place = {sequence, chain};  // an old sequence must not displace a newer one
  return std::nullopt;
}

void AllSequences::Add(const Segment& segment) {
  const MutexLock lock(mu_);
  Block* block = nullptr;
  int64_t number = -1;
  for (const ChainRecordView& record : segment.records()) {
    if (!IsFirstOfItsChains(record)) continue;
    const auto sequence = static_cast<uint64_t>(record.sequence);
    if (const auto needed = static_cast<int64_t>(sequence >> kBlockBits); block == nullptr || needed != number) {
      block = &blocks_[needed];
      number = needed;
    }
    const uint64_t in_block = sequence & ((uint64_t{1} << kBlockBits) - 1);
    const uint64_t bit = uint64_t{1} << (in_block % 64);
    uint64_t& word = (*block)[in_block / 64];
    if ((word & bit) != 0) repeated_.insert(record.sequence);
    word |= bit;
  }
}

}  // namespace braid::chains
