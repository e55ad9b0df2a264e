#include "bench/record.h"

#include <charconv>
#include <cstring>

#include "bench/generators.h"

namespace braid::bench {

Key::Key(uint64_t number) {
  std::memcpy(text_, "user", 4);
  length_ = static_cast<size_t>(std::to_chars(text_ + 4, text_ + sizeof text_, FnvHash64(number)).ptr - text_);
}

void FieldValue::Fill(Random& random) {
  // Six bits a character, ten characters a draw: 64 printable characters from '0' on.
  for (size_t i = 0; i < kFieldBytes;) {
    uint64_t bits = random.Next();
    for (int n = 0; n < 10 && i < kFieldBytes; ++n, ++i, bits >>= 6) bytes[i] = static_cast<char>('0' + (bits & 63));
  }
}

void Record::Fill(Random& random) {
  for (FieldValue& field : fields) field.Fill(random);
}

void AppendRecord(bson_t* document, std::string_view key, const Record& record) {
  bson_append_utf8(document, "_id", 3, key.data(), static_cast<int>(key.size()));
  for (int i = 0; i < kFields; ++i) {
    bson_append_binary(document, kFieldNames[i].data(), static_cast<int>(kFieldNames[i].size()), BSON_SUBTYPE_BINARY,
                       reinterpret_cast<const uint8_t*>(record.fields[i].bytes), kFieldBytes);
  }
}

}  // namespace braid::bench
