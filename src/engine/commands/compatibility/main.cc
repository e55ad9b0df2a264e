// braid_compatibility: prints the tables of docs/compatibility.md from the engine's own tables. scripts/compatibility
// puts them into the page, and a test compares the page with them.
#include <cstdio>
#include <span>
#include <string>

#include "base/strings.h"
#include "engine/commands/command.h"
#include "engine/exec/pipeline/pipeline.h"
#include "engine/language/expression/accumulator.h"
#include "engine/language/expression/expression.h"
#include "engine/language/match/filter.h"
#include "engine/language/match/schema.h"
#include "engine/language/update/update.h"

namespace braid::commands {
namespace {

void Print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

std::string_view Where(const Command& command) {
  if ((command.flags & kTestOnly) != 0) return " Only with `--test-commands`.";
  if ((command.flags & kAdminOnly) != 0) return " Only on `admin`.";
  return "";
}

void PrintCommands() {
  Print(StrCat("### Commands: ", AllCommands().size(), " supported, ", RefusedCommands().size(), " refused\n\n"));
  Print("| supported | |\n| --- | --- |\n");
  for (const Command* command : AllCommands()) {
    Print(StrCat("| `", command->name, "` | ", command->help, Where(*command), " |\n"));
  }
  Print("\n| refused | why | code |\n| --- | --- | --- |\n");
  for (const RefusedCommand& command : RefusedCommands()) {
    Print(StrCat("| `", command.name, "` | ", command.reason, " | ", CodeName(command.code), " |\n"));
  }
}

// `$a` `$b` …, one line per first letter, so that a change of the table is a small change of the page.
void PrintNames(std::span<const std::string_view> names) {
  char letter = '\0';
  for (std::string_view name : names) {
    const char first = name[name.starts_with('$') ? 1 : 0];
    Print(StrCat(letter == '\0' ? "" : letter == first ? " " : "\n", "`", name, "`"));
    letter = first;
  }
  Print("\n");
}

void PrintOperators(std::string_view title, const auto& names) {
  Print(StrCat("\n### ", title, ": ", names.supported.size(), " supported, ", names.refused.size(), " refused\n\n"));
  PrintNames(names.supported);
  if (names.refused.empty()) return;
  Print("\nRefused by name:\n");
  PrintNames(names.refused);
}

void PrintTables() {
  PrintCommands();
  PrintOperators("Query operators", query::FilterOperators());
  PrintOperators("Keywords of $jsonSchema", query::SchemaKeywords());
  PrintOperators("Update operators", update::UpdateOperators());
  PrintOperators("Pipeline stages", query::PipelineStages());
  PrintOperators("Expression operators", query::ExpressionOperators());
  PrintOperators("Accumulators", query::AccumulatorOperators());
}

}  // namespace
}  // namespace braid::commands

int main() {
  braid::commands::PrintTables();
  return 0;
}
