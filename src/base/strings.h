// Small helpers on strings: joining, splitting, checking and printing. No heavy include: this header is everywhere.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace braid {

/// One argument of StrCat as text: strings as they are, numbers in decimal, bool as true or false. Valid during the
/// call only.
class Piece {
 public:
  Piece(std::string_view text) : text_(text) {}                     // NOLINT(google-explicit-constructor)
  Piece(const std::string& text) : text_(text) {}                   // NOLINT(google-explicit-constructor)
  Piece(const char* text) : text_(text) {}                          // NOLINT(google-explicit-constructor)
  Piece(char character) : digits_{character}, text_(digits_, 1) {}  // NOLINT(google-explicit-constructor)
  Piece(bool value) : text_(value ? "true" : "false") {}            // NOLINT(google-explicit-constructor)
  template <std::integral Integer>
  Piece(Integer value) {  // NOLINT(google-explicit-constructor)
    const auto end = std::to_chars(digits_, digits_ + sizeof(digits_), value).ptr;
    text_ = std::string_view(digits_, static_cast<size_t>(end - digits_));
  }
  Piece(double value);  // NOLINT(google-explicit-constructor): the shortest text that reads back as the same number
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::string_view text() const { return text_; }

 private:
  char digits_[32];
  std::string_view text_;
};

namespace internal {
std::string Concatenate(std::initializer_list<std::string_view> texts);
}  // namespace internal

/// The arguments one after another as text.
template <typename... Args>
std::string StrCat(const Args&... args) {
  return [](const auto&... pieces) { return internal::Concatenate({pieces.text()...}); }(Piece(args)...);
}

/// Lower-case hexadecimal of raw bytes.
std::string Hex(std::string_view bytes);

/// The parts of `text` between `separator`s; at least one part.
std::vector<std::string_view> Split(std::string_view text, char separator);

/// True if `text` is well-formed UTF-8.
bool IsUtf8(std::string_view text);

/// The text without control characters, with which one line could pass for two, and without bytes that are not UTF-8:
/// both are escaped, as \n or \xNN.
std::string OneLine(std::string text);

/// "2024-05-01T12:00:00.250Z" of milliseconds since 1970. A stored time may be any number: times before the year 1 are
/// shown as the first moment of that year, times after the year 9999 as the last moment of that one.
std::string UtcText(int64_t millis);

}  // namespace braid
