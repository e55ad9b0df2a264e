#include "cli/job_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace braid::cli {
namespace {

constexpr std::chrono::seconds kWindow(10);

// In groups of three digits.
std::string Grouped(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, " ");
  return text;
}

// Without the parts that differ from line to line: digits and quoted text.
std::string KindOf(const std::string& reason) {
  std::string kind;
  char quote = 0;
  for (const char c : reason) {
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') {
      quote = c;
    } else if (c < '0' || c > '9') {
      kind += c;
    }
  }
  return quote == 0 ? kind : reason;
}

}  // namespace

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string Pace::ToString(int64_t done, std::optional<double> share, Clock::time_point now) {
  // The oldest sample stays until the next one is as old as the window.
  while (samples_.size() > 1 && now - samples_[1].at >= kWindow) samples_.pop_front();
  const Sample& first = samples_.front();
  const double seconds = std::chrono::duration<double>(now - first.at).count();
  const double rate = seconds > 0 ? static_cast<double>(std::max<int64_t>(0, done - first.done)) / seconds : 0;
  std::string text = fmt::format("{}/s", Grouped(std::llround(rate)));
  if (share) {
    const double part = std::clamp(*share, 0.0, 1.0);
    text += fmt::format(", {:.0f} %", std::floor(part * 100));
    const double gained = part - first.share;
    if (gained > 0 && part < 1) text += fmt::format(", {} left", Duration((1 - part) * seconds / gained));
  }
  samples_.push_back({now, done, share.value_or(0)});
  return text;
}

bool Reasons::Add(const std::string& reason) {
  std::string kind = KindOf(reason);
  if (kinds_.size() >= kShownMax && !kinds_.contains(kind)) {
    ++others_;
    return false;
  }
  Kind& entry = kinds_[std::move(kind)];
  if (++entry.count > 1) return false;
  entry.first = reason;
  return true;
}

std::vector<std::string> Reasons::Repeated() const {
  std::vector<std::string> lines;
  for (const auto& [kind, entry] : kinds_) {
    if (entry.count > 1) lines.push_back(StrCat("and ", entry.count - 1, " more: ", entry.first));
  }
  if (others_ > 0) lines.push_back(StrCat("and ", others_, " more for other reasons"));
  return lines;
}

}  // namespace braid::cli
