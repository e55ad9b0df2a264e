// braid completion: a script that completes command lines in a shell, made from the parser of the command line itself.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/strings.h"
#include "cli/subcommands.h"

namespace braid::cli {
namespace {

// Options whose value is a file name, which the shell completes itself.
bool TakesFile(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.find("FILE") != std::string::npos || type.find("DIR") != std::string::npos;
}

struct Cases {
  std::string paths;    // which words lead on: "braid serve"|"braid shop import"
  std::string choices;  // what can come behind a path
  std::string files;    // options that take a file: |--store|--config
};

void AddCases(const CLI::App& app, const std::string& path, Cases& cases) {
  std::string words;
  for (const CLI::App* sub : ShownSubcommands(app)) {
    const std::string name = StrCat(path, " ", sub->get_name());
    words += StrCat(words.empty() ? "" : " ", sub->get_name());
    cases.paths += StrCat(cases.paths.empty() ? "" : "|", "\"", name, "\"");
    AddCases(*sub, name, cases);
  }
  for (const CLI::Option* option : ShownOptions(app)) {
    if (option->get_lnames().empty()) continue;
    const std::string name = StrCat("--", option->get_lnames().front());
    words += StrCat(words.empty() ? "" : " ", name);
    if (TakesFile(*option) && StrCat(cases.files, "|").find(StrCat("|", name, "|")) == std::string::npos) {
      cases.files += StrCat("|", name);
    }
  }
  cases.choices += StrCat("    \"", path, "\") choices=\"", words, "\" ;;\n");
}

std::string BashScript(const CLI::App& root) {
  Cases cases;
  AddCases(root, root.get_name(), cases);
  return StrCat(R"(# bash completion for braid: made by `braid completion bash`
_braid() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} path=braid word choices=
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      )",
                cases.paths, R"() path="$path $word" ;;
    esac
  done
  case $previous in
    )",
                cases.files.substr(1), R"()
      COMPREPLY=($(compgen -f -- "$current"))
      return
      ;;
  esac
  case $path in
)",
                cases.choices, R"(  esac
  COMPREPLY=($(compgen -W "$choices" -- "$current"))
  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- "$current"))
}
complete -o filenames -F _braid braid
)");
}

// zsh runs the functions of bash.
std::string ZshScript(const CLI::App& root) {
  return StrCat("#compdef braid\nautoload -U +X bashcompinit && bashcompinit\n", BashScript(root));
}

}  // namespace

Action SetUpCompletion(CLI::App& app) {
  app.group("");  // not for every day: not in the list
  const auto shell = std::make_shared<std::string>();
  app.add_option("shell", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh"}));
  return [&app, shell]() -> Status {
    const CLI::App& root = *app.get_parent();
    std::fputs((*shell == "zsh" ? ZshScript(root) : BashScript(root)).c_str(), stdout);
    return {};
  };
}

}  // namespace braid::cli
