// Dates written as a layout says, in the three notations that people know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"

namespace braid::transfer {

/// Reads dates of one layout. UTC unless the date carries an offset.
class DateLayout {
 public:
  enum class Notation {
    kGo,      ///< the date 2006-01-02 15:04:05.000 itself, as in Go
    kMs,      ///< yyyy-MM-dd HH:mm:ss.fff, as in .NET
    kOracle,  ///< YYYY-MM-DD HH24:MI:SS.FF3, as in TO_DATE
  };
  static Result<DateLayout> Parse(std::string_view layout, Notation notation);

  /// Milliseconds since 1970, or nothing if the text is not of this layout.
  std::optional<int64_t> Read(std::string_view text) const;

  enum class Part {
    kLiteral,
    kYear4,
    kYear2,
    kMonth,
    kMonthName,
    kDay,
    kHour24,
    kHour12,
    kMinute,
    kSecond,
    kFraction,
    kHalf,
    kOffset,
    kWeekday
  };

 private:
  struct Piece {
    Part part;
    std::string literal;
  };
  std::vector<Piece> pieces_;
};

}  // namespace braid::transfer
