#include "http/metrics.h"

#include <fmt/format.h>

#include <cmath>

#include "base/mutex.h"
#include "base/strings.h"

namespace braid::http {
namespace {

std::string EscapeLabel(std::string_view value) {
  std::string escaped;
  escaped.reserve(value.size());
  for (const char c : value) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string NumberText(double value) {
  constexpr double kExact = 9007199254740992;  // whole numbers up to here are doubles
  if (value == std::floor(value) && std::abs(value) < kExact) return StrCat(static_cast<int64_t>(value));
  return fmt::format("{}", value);
}

}  // namespace

void Exposition::Family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += StrCat("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

void Exposition::Sample(double value, Labels labels, std::string_view suffix) {
  text_ += StrCat(name_, suffix);
  std::string inside;
  for (const auto& [name, text] : labels) {
    inside += StrCat(inside.empty() ? "" : ",", name, "=\"", EscapeLabel(text), "\"");
  }
  if (!inside.empty()) text_ += StrCat("{", inside, "}");
  text_ += StrCat(" ", NumberText(value), "\n");
}

void Histogram::Add(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  size_t bucket = 0;
  while (bucket < kSeconds.size() && seconds > kSeconds[bucket]) ++bucket;
  counts_[bucket].fetch_add(1, std::memory_order_relaxed);
  nanoseconds_.fetch_add(static_cast<uint64_t>(duration.count()), std::memory_order_relaxed);
}

void Histogram::Write(Exposition& out, std::string_view label, std::string_view value) const {
  uint64_t total = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i].load(std::memory_order_relaxed);
    const std::string bound = i < kSeconds.size() ? fmt::format("{}", kSeconds[i]) : "+Inf";
    out.Sample(static_cast<double>(total), {{label, value}, {"le", bound}}, "_bucket");
  }
  out.Sample(static_cast<double>(nanoseconds_.load(std::memory_order_relaxed)) / 1e9, {{label, value}}, "_sum");
  out.Sample(static_cast<double>(total), {{label, value}}, "_count");
}

void HttpMetrics::Ended(std::string_view route, std::string_view method, unsigned status,
                        std::chrono::nanoseconds duration, uint64_t bytes_read, uint64_t bytes_written) {
  --running_;
  bytes_read_ += bytes_read;
  bytes_written_ += bytes_written;
  const MutexLock lock(mu_);
  ++requests_[{std::string(route), std::string(method), status}];
  durations_[std::string(route)].Add(duration);
}

void HttpMetrics::Write(const Server::Figures& connections, Exposition& out) const {
  out.Family("braid_http_connections", "gauge", "HTTP connections that are open.");
  out.Sample(static_cast<double>(connections.connections));
  out.Family("braid_http_connections_accepted_total", "counter", "HTTP connections that were accepted.");
  out.Sample(static_cast<double>(connections.accepted));
  out.Family("braid_http_connections_rejected_total", "counter", "HTTP connections refused because of their number.");
  out.Sample(static_cast<double>(connections.rejected));
  out.Family("braid_http_queue_waiting", "gauge", "HTTP requests that wait for a worker.");
  out.Sample(static_cast<double>(connections.waiting));
  out.Family("braid_http_queue_wait_seconds_total", "counter", "How long HTTP requests have waited for a worker.");
  out.Sample(std::chrono::duration<double>(connections.waited).count());
  out.Family("braid_http_requests_running", "gauge", "HTTP requests that are being read, run or answered.");
  out.Sample(static_cast<double>(running_));
  out.Family("braid_http_request_body_bytes_total", "counter", "Bytes of the bodies of HTTP requests.");
  out.Sample(static_cast<double>(bytes_read_));
  out.Family("braid_http_response_bytes_total", "counter", "Bytes of HTTP responses, headers included.");
  out.Sample(static_cast<double>(bytes_written_));
  const MutexLock lock(mu_);
  out.Family("braid_http_requests_total", "counter",
             "HTTP requests by route, method and status; status 0: the client was gone.");
  for (const auto& [key, count] : requests_) {
    const auto& [route, method, status] = key;
    out.Sample(static_cast<double>(count), {{"route", route}, {"method", method}, {"status", StrCat(status)}});
  }
  out.Family("braid_http_request_duration_seconds", "histogram",
             "From the header of an HTTP request to the end of its response, by route.");
  for (const auto& [route, histogram] : durations_) histogram.Write(out, "route", route);
}

}  // namespace braid::http
