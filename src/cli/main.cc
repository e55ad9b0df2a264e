// braid: reads the command line and runs the subcommand.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <span>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "cli/subcommands.h"
#include "client/handles.h"

// Read by jemalloc: large replies come and go, and giving their memory back to the kernel each time costs more than
// they do. Memory that was not reused for a fifth of a second is returned by a thread of jemalloc: an idle server would
// keep it otherwise. An option by MALLOC_CONF in the environment goes before.
extern "C" const char* malloc_conf;
const char* malloc_conf = "oversize_threshold:0,dirty_decay_ms:200,muzzy_decay_ms:0,background_thread:true";

// Of jemalloc; builds with sanitizers do not have it.
extern "C" int mallctl(const char* name, void* old, size_t* old_size, void* value, size_t size) __attribute__((weak));

namespace {

// The exit codes of every subcommand (docs/tools.md).
constexpr int kDone = 0;
constexpr int kFailed = 1;  // something was refused, is damaged or could not be done
constexpr int kUsage = 2;   // the command line is wrong

// Only servers are ever idle. A command that goes through a log in batches of megabytes uses what one batch has freed
// for the next, which the kernel would have to fill with zeros again.
void KeepFreedMemory() {
  if (mallctl == nullptr || std::getenv("MALLOC_CONF") != nullptr) return;
  ssize_t decay_ms = 10'000;
  mallctl("arenas.dirty_decay_ms", nullptr, nullptr, &decay_ms, sizeof(decay_ms));   // of arenas to come
  mallctl("arena.0.dirty_decay_ms", nullptr, nullptr, &decay_ms, sizeof(decay_ms));  // of this thread
}

// What is in standard output's buffer is written only now: a full disk would otherwise pass for success.
int FlushOutput() {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0 && std::cout.good()) return kDone;
  const int reason = errno;
  std::fprintf(stderr, "braid: cannot write to standard output%s%s\n", reason != 0 ? ": " : "",
               reason != 0 ? std::strerror(reason) : "");
  return kFailed;
}

// --json of a command that failed before it could print its object: one that says why (F4). Asked of the words
// themselves: a command line that is wrong was not read to its end.
void PrintFailure(std::span<char* const> words, braid::Code code, std::string_view message) {
  const bool asked =
      std::any_of(words.begin(), words.end(), [](const char* word) { return std::string_view(word) == "--json"; });
  if (!asked || braid::client::JsonPrinted()) return;
  braid::client::Bson error;
  error.Text("code", braid::CodeName(code)).Text("message", message);
  braid::client::Bson object;
  object.Bool("ok", false).Document("error", error);
  braid::client::PrintJson(object);
}

int Run(int argc, char** argv) {
  CLI::App app("Braid: a sharded document engine that speaks the MongoDB protocol.", "braid");
  app.set_version_flag("--version", "braid " BRAID_VERSION, "Print the version.");
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, braid::cli::Action>> actions;
  for (const braid::cli::Subcommand& subcommand : braid::cli::kSubcommands) {
    CLI::App* parser = app.add_subcommand(subcommand.name, subcommand.help);
    actions.emplace_back(parser, subcommand.set_up(*parser));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {  // --help and --version too, with the code 0
    if (app.exit(error) == 0) return FlushOutput();
    PrintFailure({argv, static_cast<size_t>(argc)}, braid::Code::kFailedToParse, error.what());
    return kUsage;
  }
  for (const auto& [parser, action] : actions) {
    if (!parser->parsed()) continue;
    if (parser->get_name() != "serve" && parser->get_name() != "demo") KeepFreedMemory();
    if (const braid::Status status = action(); !status.ok()) {
      const std::string message(status.message());
      braid::log::Flush();  // write out the log lines that led to it
      std::fprintf(stderr, "braid %s: %s\n", parser->get_name().c_str(), message.c_str());
      PrintFailure({argv, static_cast<size_t>(argc)}, status.code(), status.message());
      return kFailed;
    }
  }
  return FlushOutput();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& e) {  // of a library: our own code returns Status
    std::fprintf(stderr, "braid: %s\n", e.what());
    return kFailed;
  }
}
