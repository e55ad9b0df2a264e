#include "http/routes.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "http/app.h"
#include "http/message.h"
#include "http/metrics.h"

namespace braid::http {
namespace {

TEST(OpenApiTest, IsJsonAndHasEveryRoute) {
  const std::string text = OpenApiDocument(AllRoutes(), AllSchemas());
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_EQ(parser.parse(text).get(document), simdjson::SUCCESS);
  EXPECT_EQ(std::string_view(document["openapi"]), "3.1.0");
  for (const Route& route : AllRoutes()) {
    const std::string method = route.method == "GET" ? "get" : route.method == "POST" ? "post" : "put";
    simdjson::dom::element operation;
    const auto found = document["paths"].at_key(route.path);
    ASSERT_EQ(found.error(), simdjson::SUCCESS) << route.path;
    if (route.method == "DELETE" || route.method == "PATCH") continue;
    EXPECT_EQ(found.at_key(method).get(operation), simdjson::SUCCESS) << route.method << " " << route.path;
  }
}

TEST(OpenApiTest, EverySchemaThatIsNamedIsThereOnce) {
  std::set<std::string_view> names;
  for (const Schema& schema : AllSchemas()) EXPECT_TRUE(names.insert(schema.name).second) << schema.name;
  for (const Route& route : AllRoutes()) {
    EXPECT_TRUE(route.media != kJson || names.contains(route.gives)) << route.path << " " << route.gives;
    EXPECT_TRUE(route.takes.empty() || names.contains(route.takes)) << route.path << " " << route.takes;
  }
  constexpr std::string_view kStart = "#/components/schemas/";
  for (const Schema& schema : AllSchemas()) {
    for (size_t at = schema.json.find(kStart); at != std::string_view::npos; at = schema.json.find(kStart, at + 1)) {
      const std::string_view rest = schema.json.substr(at + kStart.size());
      EXPECT_TRUE(names.contains(rest.substr(0, rest.find('"')))) << schema.name;
    }
  }
}

TEST(OpenApiTest, EveryParameterOfAPathIsDescribed) {
  for (const Route& route : AllRoutes()) {
    for (const std::string_view part : Split(route.path, '/')) {
      if (!part.starts_with('{')) continue;
      const std::string_view name = part.substr(1, part.size() - 2);
      const bool described = std::any_of(route.parameters.begin(), route.parameters.end(), [&](const Parameter& one) {
        return one.name == name && one.place == Parameter::Place::kPath;
      });
      EXPECT_TRUE(described) << route.path;
    }
  }
}

TEST(LineSplitterTest, LinesAreWholeHoweverTheyAreCut) {
  const std::string text = "one\r\n\n  \ntwo\nthree";
  for (size_t size = 1; size <= text.size(); ++size) {
    LineSplitter splitter;
    std::vector<std::string> lines;
    std::vector<uint64_t> numbers;
    const auto gather = [&] {
      lines.insert(lines.end(), splitter.lines().begin(), splitter.lines().end());
      numbers.insert(numbers.end(), splitter.numbers().begin(), splitter.numbers().end());
    };
    for (size_t begin = 0; begin < text.size(); begin += size) {
      ASSERT_TRUE(splitter.Take(std::string_view(text).substr(begin, size)).ok());
      gather();
    }
    ASSERT_TRUE(splitter.Finish().ok());
    gather();
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three"}));
    EXPECT_EQ(numbers, (std::vector<uint64_t>{1, 4, 5}));
  }
}

TEST(LineSplitterTest, ALineThatIsTooLongIsAnErrorBehindThoseBefore) {
  LineSplitter splitter;
  const Status status = splitter.Take(StrCat("one\n", std::string(LineSplitter::kLineBytesMax + 1, 'x')));
  EXPECT_EQ(status.code(), Code::kInvalidLength);
  ASSERT_EQ(splitter.lines().size(), 1u);
  EXPECT_EQ(splitter.lines()[0], "one");
}

TEST(ExpositionTest, WritesFamiliesWithEscapedLabels) {
  Exposition out;
  out.Family("braid_x_total", "counter", "Some.");
  out.Sample(3);
  out.Sample(0.25, {{"a", "q\"\\\n"}, {"b", "c"}});
  EXPECT_EQ(out.text(),
            "# HELP braid_x_total Some.\n# TYPE braid_x_total counter\nbraid_x_total 3\n"
            "braid_x_total{a=\"q\\\"\\\\ \",b=\"c\"} 0.25\n");
}

TEST(HistogramTest, BucketsAddUp) {
  Histogram histogram;
  histogram.Add(std::chrono::microseconds(700));
  histogram.Add(std::chrono::seconds(60));
  Exposition out;
  out.Family("h", "histogram", "");
  histogram.Write(out, "route", "/");
  EXPECT_NE(out.text().find("h_bucket{route=\"/\",le=\"0.0005\"} 0\n"), std::string::npos) << out.text();
  EXPECT_NE(out.text().find("h_bucket{route=\"/\",le=\"0.001\"} 1\n"), std::string::npos);
  EXPECT_NE(out.text().find("h_bucket{route=\"/\",le=\"10\"} 1\n"), std::string::npos);
  EXPECT_NE(out.text().find("h_bucket{route=\"/\",le=\"+Inf\"} 2\n"), std::string::npos);
  EXPECT_NE(out.text().find("h_count{route=\"/\"} 2\n"), std::string::npos);
}

}  // namespace
}  // namespace braid::http
