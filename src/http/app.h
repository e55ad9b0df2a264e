// App: finds the route of a request, checks its parameters and body, and calls it.
#pragma once

#include <span>

#include "http/api.h"
#include "http/route.h"
#include "http/sealing.h"
#include "http/server.h"

namespace braid::http {

/// Any thread. The routes and the Api must outlive it.
class App final : public Handler {
 public:
  App(Api& api, std::span<const Route> routes, SealOptions options)
      : api_(api), routes_(routes), options_(std::move(options)) {}

  std::unique_ptr<Exchange> Begin(Request request) override;
  Response Malformed(unsigned status, std::string_view code, std::string_view message) override;

 private:
  Api& api_;
  const std::span<const Route> routes_;
  const SealOptions options_;
};

/// Every route, in the order of the documentation.
std::span<const Route> AllRoutes();

}  // namespace braid::http
