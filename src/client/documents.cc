#include "client/documents.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace braid::client {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they are");

void Documents::Close() {
  BRAID_ASSERT(!open_.empty());
  *Extend(1) = '\0';
  const size_t begin = open_.back();
  open_.pop_back();
  const size_t length = size_ - begin;
  BRAID_ASSERT(length <= std::numeric_limits<int32_t>::max());
  const auto bytes = static_cast<uint32_t>(length);
  std::memcpy(space_.data() + begin, &bytes, sizeof(bytes));
}

void Documents::Clear() {
  size_ = 0;
  open_.clear();
  ends_.clear();
}

std::string_view Documents::operator[](size_t position) const {
  BRAID_ASSERT(position < ends_.size());
  const size_t begin = position == 0 ? 0 : ends_[position - 1];
  return std::string_view(space_).substr(begin, ends_[position] - begin);
}

std::vector<const bson_t*> Documents::All() {
  BRAID_ASSERT(open_.empty());
  views_.resize(ends_.size());
  std::vector<const bson_t*> all;
  all.reserve(ends_.size());
  for (size_t i = 0; i < ends_.size(); ++i) {
    const std::string_view document = (*this)[i];
    const bool ok =
        bson_init_static(&views_[i].bson, reinterpret_cast<const uint8_t*>(document.data()), document.size());
    BRAID_ASSERT(ok);
    all.push_back(&views_[i].bson);
  }
  return all;
}

void Documents::Grow(size_t count) {
  constexpr size_t kFirst = 4096;
  space_.resize(std::max({kFirst, 2 * space_.size(), size_ + count}));
}

}  // namespace braid::client
