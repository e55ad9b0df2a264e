// LineSplitter: splits a stream into lines; its parts may end anywhere.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"

namespace braid::http {

/// One thread at a time.
class LineSplitter {
 public:
  /// A longer line is an error.
  static constexpr size_t kLineBytesMax = 4 << 20;

  /// Takes the next part. lines() are those that are complete now; the views live until the next call.
  Status Take(std::string_view part);
  /// Ends the stream: the text after the last line end is a line, too.
  Status Finish();

  /// Without their ends; those with nothing but blanks are left out.
  std::span<const std::string_view> lines() const { return lines_; }
  /// The number of each, from 1.
  std::span<const uint64_t> numbers() const { return numbers_; }

 private:
  void Add(std::string_view line);

  std::string text_;  // the part, behind what was left of the one before
  size_t left_ = 0;   // where the incomplete line begins in it
  uint64_t number_ = 0;
  std::vector<std::string_view> lines_;
  std::vector<uint64_t> numbers_;
};

}  // namespace braid::http
