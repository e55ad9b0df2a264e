#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "base/assert.h"
#include "base/log_writer.h"
#include "base/strings.h"

namespace braid::log {
namespace {
constexpr size_t kRecentLinesMax = 1024;
constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v";
constexpr const char* kJsonPattern = R"({"t":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})";
constexpr std::string_view kOwnComponent = "server";
constexpr std::chrono::milliseconds kFlushPatience{1000};

std::atomic<Format> line_format{Format::kText};

const char* Pattern() { return line_format.load() == Format::kJson ? kJsonPattern : kTextPattern; }

// The text in quotation marks; it is one line already.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out += '"';
}

std::string ValueText(const Attribute& attribute) {
  if (const auto* number = std::get_if<int64_t>(&attribute.value)) return StrCat(*number);
  return Quoted(OneLine(std::get<std::string>(attribute.value)));
}

// The text after time and level.
std::string Rest(std::string_view component, std::string message, std::span<const Attribute> attributes) {
  message = OneLine(std::move(message));
  const bool json = line_format.load() == Format::kJson;
  std::string out =
      json ? StrCat(R"("component":)", Quoted(component), R"(,"message":)", Quoted(message), R"(,"attributes":{)")
           : std::move(message);
  for (size_t i = 0; i < attributes.size(); ++i) {
    const std::string_view name = attributes[i].name;
    out += json ? StrCat(i > 0 ? "," : "", Quoted(name), ":") : StrCat(" ", name, "=");
    out += ValueText(attributes[i]);
  }
  return json ? out += '}' : out;
}

std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt>& Ring() {
  static auto ring = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kRecentLinesMax);
  return ring;
}

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kTrace: return spdlog::level::trace;
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarning: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
    case Level::kOff: break;
  }
  return spdlog::level::off;
}

// The line that stands for lines that were dropped.
std::string Note(uint64_t dropped) {
  spdlog::pattern_formatter formatter(Pattern());
  const std::string text =
      Rest(kOwnComponent, StrCat(dropped, " lines were dropped: the log was not read or written quickly enough"), {});
  spdlog::memory_buf_t line;
  formatter.format(spdlog::details::log_msg("braid", spdlog::level::warn, text), line);
  return {line.data(), line.size()};
}

// Lines to the writer, with a coloured level if that is a terminal.
class WriterSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  WriterSink() : coloured_(::isatty(STDERR_FILENO) == 1), writer_(STDERR_FILENO, Note) {}

  LogWriter& writer() { return writer_; }
  Status OpenFile(const std::string& path) {
    const std::lock_guard lock(mutex_);
    BRAID_CHECK_OK(writer_.Open(path));
    coloured_ = false;
    return {};
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t formatted;
    formatter_->format(message, formatted);
    std::string line(formatted.data(), formatted.size());
    if (coloured_ && message.color_range_end > message.color_range_start) {
      line.insert(message.color_range_end, "\x1b[0m");
      line.insert(message.color_range_start, message.level >= spdlog::level::err    ? "\x1b[31m"
                                             : message.level == spdlog::level::warn ? "\x1b[33m"
                                                                                    : "\x1b[32m");
    }
    writer_.Push(std::move(line));
  }
  void flush_() override {}

  bool coloured_;  // guarded by mutex_
  LogWriter writer_;
};

// Null before Init(). Never destroyed: a thread may log while the process ends.
std::shared_ptr<WriterSink>& Sink() {
  static auto& sink = *new std::shared_ptr<WriterSink>();
  return sink;
}

}  // namespace

Level LevelOf(std::string_view name) {
  if (name == "trace") return Level::kTrace;
  if (name == "debug") return Level::kDebug;
  if (name == "info") return Level::kInfo;
  if (name == "warning") return Level::kWarning;
  return name == "error" ? Level::kError : Level::kOff;
}

void Init(Level level) {
  if (Sink() == nullptr) {
    Sink() = std::make_shared<WriterSink>();
    std::atexit(Flush);
  }
  auto logger = std::make_shared<spdlog::logger>("braid", spdlog::sinks_init_list{Sink(), Ring()});
  logger->set_level(ToSpdlog(level));
  logger->set_pattern(Pattern());
  spdlog::set_default_logger(std::move(logger));
}

void SetFormat(Format wanted) {
  line_format = wanted;
  spdlog::default_logger()->set_pattern(Pattern());
}

void SetLevel(Level level) { spdlog::default_logger()->set_level(ToSpdlog(level)); }

Status OpenFile(const std::string& path) {
  BRAID_ASSERT(Sink() != nullptr);
  return Sink()->OpenFile(path);
}

void Flush() {
  if (Sink() != nullptr) Sink()->writer().Flush(kFlushPatience);
}

uint64_t Dropped() { return Sink() == nullptr ? 0 : Sink()->writer().dropped(); }

std::vector<std::string> Recent() { return Ring()->last_formatted(); }

void Event(Level level, std::string_view component, std::string_view message, std::span<const Attribute> attributes) {
  if (internal::IsLogged(level)) spdlog::log(ToSpdlog(level), Rest(component, std::string(message), attributes));
}

namespace internal {

bool IsLogged(Level level) { return spdlog::should_log(ToSpdlog(level)); }

void Write(Level level, fmt::string_view text, fmt::format_args args) {
  spdlog::log(ToSpdlog(level), Rest(kOwnComponent, fmt::vformat(text, args), {}));
}

}  // namespace internal

}  // namespace braid::log
