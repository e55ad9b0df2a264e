// The advice for people and for programs.
#include "cli/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace braid::advise {
namespace {

constexpr size_t kColumns = 9;
using Line = std::array<std::string, kColumns>;

const Line kHeader = {"key", "score", "", "distinct", "values", "even", "max/mean", "targeted", "one/some/all"};

std::string Score(double score) { return fmt::format("{:.2f}", score); }

Line LineOf(const Rating& rating) {
  Line line = {rating.key.ToText(),
               Score(rating.score),
               Verdict(rating.score),
               Score(rating.distinct.score),
               StrCat(rating.distinct.exact ? "" : "~", Quantity(std::round(rating.distinct.values))),
               Score(rating.evenness.score),
               Score(rating.evenness.max_over_mean),
               "unknown",
               "-"};
  if (!rating.targeting) return line;
  const Reach& reach = rating.targeting->reach;
  line[7] = Score(rating.targeting->score);
  const auto percent = [&](double part) { return fmt::format("{:.0f}", 100 * part / std::max(reach.sum(), 1e-9)); };
  line[8] = StrCat(percent(reach.one), "/", percent(reach.few), "/", percent(reach.all), " %");
  return line;
}

// Characters, not bytes: names may have any letters.
size_t Width(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void AppendTable(const Advice& advice, std::string& out) {
  std::vector<Line> lines = {kHeader};
  for (const Rating& rating : advice.ratings) lines.push_back(LineOf(rating));
  std::array<size_t, kColumns> widths{};
  for (const Line& line : lines) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], Width(line[i]));
  }
  for (size_t row = 0; row < lines.size(); ++row) {
    std::string text;
    for (size_t i = 0; i < kColumns; ++i) {
      const std::string& cell = lines[row][i];
      const std::string padding(widths[i] - Width(cell), ' ');
      const bool left = i == 0 || i == 2;
      text += StrCat(i == 0 ? "" : "  ", left ? cell : padding, left ? padding : cell);
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  }
}

std::string Intro(const Advice& advice) {
  std::string text = StrCat(advice.database, ".", advice.collection, ": ", advice.sampled, " of ", advice.total,
                            " documents, ", advice.shards, " shards, ");
  if (advice.operations == 0) return text + "no operations\n";
  text += StrCat(advice.operations, " operations (",
                 advice.operations_from == "server" ? "recorded by the server" : "listed", "), ",
                 Quantity(advice.weight), " by their weights\n");
  if (advice.skipped > 0) text += StrCat(advice.skipped, " operations on other collections are left out\n");
  return text;
}

double Rounded(double value) { return std::round(value * 10'000) / 10'000; }

void AppendReach(bson::Builder& out, const Reach& reach) {
  out.Append("one", Rounded(reach.one)).Append("few", Rounded(reach.few)).Append("all", Rounded(reach.all));
}

void AppendDistinct(bson::Builder& out, const Distinct& distinct) {
  out.OpenObject("distinct")
      .Append("score", Rounded(distinct.score))
      .Append("values", static_cast<int64_t>(std::llround(distinct.values)))
      .Append("exact", distinct.exact)
      .Append("top_value", distinct.top_value)
      .Append("top_share", Rounded(distinct.top_share))
      .Append("top_is_null", distinct.top_is_null)
      .Close();
}

void AppendEvenness(bson::Builder& out, const Evenness& evenness) {
  out.OpenObject("evenness")
      .Append("score", Rounded(evenness.score))
      .Append("max_over_mean", Rounded(evenness.max_over_mean))
      .OpenArray("documents_per_shard");
  for (const uint64_t count : evenness.per_shard) out.AppendNext(count);
  out.Close();
  if (evenness.growth) {
    out.OpenObject("growth")
        .Append("correlation", Rounded(evenness.growth->correlation))
        .Append("newest_share", Rounded(evenness.growth->newest_share))
        .Append("monotonic", evenness.growth->monotonic)
        .Close();
  } else {
    out.Append("growth", bson::Null{});
  }
  out.Close();
}

void AppendTargeting(bson::Builder& out, const std::optional<Targeting>& targeting) {
  if (!targeting) {
    out.Append("targeting", bson::Null{});
    return;
  }
  out.OpenObject("targeting").Append("score", Rounded(targeting->score));
  AppendReach(out, targeting->reach);
  out.OpenArray("shapes");
  for (const ShapeReach& shape : targeting->shapes) {
    out.OpenNextObject().Append("shape", shape.shape);
    AppendReach(out, shape.reach);
    out.Append("shards", Rounded(shape.shards)).Append("changes_key", shape.changes_key).Close();
  }
  out.Close().Close();
}

void AppendTexts(bson::Builder& out, std::string_view name, const std::vector<std::string>& texts) {
  out.OpenArray(name);
  for (const std::string& text : texts) out.AppendNext(text);
  out.Close();
}

void AppendCandidate(bson::Builder& out, const Advice& advice, const Rating& rating) {
  out.OpenNextObject()
      .Append("key", rating.key.ToBson())
      .Append("score", Rounded(rating.score))
      .Append("verdict", Verdict(rating.score));
  AppendDistinct(out, rating.distinct);
  AppendEvenness(out, rating.evenness);
  AppendTargeting(out, rating.targeting);
  out.Append("with_array", rating.with_array);
  AppendTexts(out, "notes", Notes(advice, rating));
  out.Close();
}

}  // namespace

std::string ToText(const Advice& advice) {
  std::string out = Intro(advice) + "\n";
  AppendTable(advice, out);
  for (const std::string& paragraph : Recommend(advice)) out += StrCat("\n", paragraph, "\n");
  out += "\nIn mongosh:\n";
  for (const std::string& command : Commands(advice)) out += StrCat("  ", command, "\n");
  return out;
}

std::string ToJson(const Advice& advice) {
  bson::Builder out;
  out.Append("namespace", StrCat(advice.database, ".", advice.collection)).Append("shards", uint64_t{advice.shards});
  out.OpenObject("documents")
      .Append("source", advice.documents_from)
      .Append("sampled", advice.sampled)
      .Append("total", advice.total)
      .Close();
  out.OpenObject("operations")
      .Append("source", advice.operations_from)
      .Append("count", advice.operations)
      .Append("weight", Rounded(advice.weight))
      .Append("skipped", advice.skipped)
      .Close();
  if (advice.insertion_order.empty()) {
    out.Append("insertion_order", bson::Null{});
  } else {
    out.Append("insertion_order", advice.insertion_order);
  }
  out.OpenArray("candidates");
  for (const Rating& rating : advice.ratings) AppendCandidate(out, advice, rating);
  out.Close();
  out.OpenObject("recommendation").Append("key", advice.ratings.front().key.ToBson());
  AppendTexts(out, "text", Recommend(advice));
  AppendTexts(out, "commands", Commands(advice));
  out.Close();
  return bson::ToJson(out.Finish().view());
}

}  // namespace braid::advise
