#include "patterns/chains/verify_groups.h"

#include "base/assert.h"

namespace braid::chains {
namespace {

constexpr size_t kGroupBytes = 256 << 10;
constexpr size_t kGroupSegments = 512;
constexpr size_t kPieces = 8;  // of a group; enough for threads that come late

}  // namespace

Status CheckedSegments::Run(const std::function<void(const SegmentCheck&)>& each) {
  Group groups[2];
  BRAID_CHECK_OK(Read(groups[0]));
  for (size_t current = 0; groups[current].used > 0; current = 1 - current) {
    Group& now = groups[current];
    Status read;
    helpers_.Run(1 + kPieces, [&](size_t piece) {
      if (piece == 0) {
        read = Read(groups[1 - current]);
      } else {
        Check(now, piece - 1);
      }
    });
    BRAID_CHECK_OK(read);
    for (size_t i = 0; i < now.used; ++i) each(now.slots[i]->check);
  }
  return {};
}

Status CheckedSegments::Read(Group& group) {
  group.used = 0;
  for (size_t bytes = 0; bytes < kGroupBytes && group.used < kGroupSegments;) {
    BRAID_TRY(const bson_t* document, cursor_.Next());
    if (document == nullptr) break;
    if (group.used == group.slots.size()) group.slots.push_back(std::make_unique<Slot>());
    const uint8_t* const data = bson_get_data(document);
    group.slots[group.used++]->bytes.assign(data, data + document->len);
    bytes += document->len;
  }
  return {};
}

void CheckedSegments::Check(Group& group, size_t piece) const {
  for (size_t i = group.used * piece / kPieces; i < group.used * (piece + 1) / kPieces; ++i) {
    Slot& slot = *group.slots[i];
    bson_t document;
    BRAID_ASSERT(bson_init_static(&document, slot.bytes.data(), slot.bytes.size()));
    slot.check.Run(chain_, document);
  }
}

}  // namespace braid::chains
