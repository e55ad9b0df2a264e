// braid manual: the man pages, made from the parser of the command line itself: one for the program, one for each
// subcommand.
#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "cli/subcommands.h"

namespace braid::cli {

namespace {

// Text for troff: a hyphen is one, and neither a backslash nor a dot at the start of a line is a command.
std::string Roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) {
      out += StrCat("\\&", c);
    } else {
      out += c;
    }
  }
  return out;
}

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

void AddOption(const CLI::Option& option, std::string& page) {
  const std::string type = option.get_expected_max() == 0 ? "" : option.get_type_name();
  page += StrCat(".TP\n\\fB", Roff(option.get_name(option.get_positional(), true)), "\\fR");
  if (!type.empty()) page += StrCat(" \\fI", Roff(type), "\\fR");
  page += StrCat("\n", Roff(option.get_description()));
  if (option.get_required()) page += " Required.";
  if (!option.get_default_str().empty()) page += StrCat(" Default: ", Roff(option.get_default_str()), ".");
  page += "\n";
}

void AddOptions(const CLI::App& app, std::string& page) {
  for (const CLI::Option* option : ShownOptions(app)) AddOption(*option, page);
}

// A subcommand of a subcommand is a section of its page.
void AddNested(const CLI::App& app, const std::string& path, std::string& page) {
  for (const CLI::App* sub : ShownSubcommands(app)) {
    const std::string name = StrCat(path, " ", sub->get_name());
    page += StrCat(".SS ", Roff(name), "\n", Roff(sub->get_description()), "\n");
    AddOptions(*sub, page);
    AddNested(*sub, name, page);
  }
}

void AddHead(std::string_view name, std::string_view description, std::string_view synopsis, std::string& page) {
  page += StrCat(".TH ", Upper(Roff(name)), " 1 \"\" \"braid\" \"Braid\"\n");
  page += StrCat(".SH NAME\n", Roff(name), " \\- ", Roff(description), "\n");
  page += StrCat(".SH SYNOPSIS\n\\fB", Roff(synopsis), "\\fR\n");
}

std::string SubcommandPage(const CLI::App& app) {
  const bool nested = !ShownSubcommands(app).empty();
  std::string page;
  AddHead(StrCat("braid-", app.get_name()), app.get_description(),
          StrCat("braid ", app.get_name(), nested ? " COMMAND [OPTION...]" : " [OPTION...]"), page);
  page += ".SH OPTIONS\n";
  AddOptions(app, page);
  if (!app.get_footer().empty()) page += StrCat(".PP\n", Roff(app.get_footer()), "\n");
  if (nested) page += ".SH COMMANDS\n";
  AddNested(app, StrCat("braid ", app.get_name()), page);
  page += ".SH EXIT STATUS\n0: success. 1: something was refused, is damaged or could not be done. 2: wrong usage.\n";
  return page + ".SH SEE ALSO\n\\fBbraid\\fR(1)\n";
}

std::string ProgramPage(const CLI::App& root) {
  std::string page;
  AddHead("braid", root.get_description(), "braid COMMAND [OPTION...]", page);
  page += ".SH COMMANDS\n";
  for (const CLI::App* sub : ShownSubcommands(root)) {
    page += StrCat(".TP\n\\fBbraid\\-", Roff(sub->get_name()), "\\fR(1)\n", Roff(sub->get_description()), "\n");
  }
  page += ".SH OPTIONS\n";
  AddOptions(root, page);
  return page;
}

Status WritePage(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  return file ? Status() : Status(Code::kBadValue, StrCat("cannot write ", path.string()));
}

std::vector<std::pair<std::string, std::string>> ManualPages(const CLI::App& root) {
  std::vector<std::pair<std::string, std::string>> pages = {{"braid.1", ProgramPage(root)}};
  for (const CLI::App* sub : ShownSubcommands(root)) {
    pages.emplace_back(StrCat("braid-", sub->get_name(), ".1"), SubcommandPage(*sub));
  }
  return pages;
}

}  // namespace

Action SetUpManual(CLI::App& app) {
  app.group("");  // for packages
  const auto directory = std::make_shared<std::string>();
  app.add_option("directory", *directory, "Directory that the pages are written to.")->required();
  return [&app, directory]() -> Status {
    std::error_code error;
    std::filesystem::create_directories(*directory, error);
    if (error) return {Code::kBadValue, StrCat(*directory, ": ", error.message())};
    for (const auto& [name, text] : ManualPages(*app.get_parent())) {
      BRAID_CHECK_OK(WritePage(std::filesystem::path(*directory) / name, text));
    }
    return {};
  };
}

}  // namespace braid::cli
