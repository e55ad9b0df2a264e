// Journal: the demo's actions, kept in the store for users, for the dashboard and for the next start.
//
// In the database `demo`:
//   status  {_id: "<load>", at, <figure>: N, …, <text>: "…", …}   one per load, written after each of its steps
//   events  {_id, at, load, text}                                 recent events; removed after an hour
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "braid/clients.h"

namespace braid::cli::demo {

using Figures = std::map<std::string, int64_t>;
using Texts = std::map<std::string, std::string>;

/// Any thread. The Clients must outlive it.
class Journal {
 public:
  /// Called with each event, on the thread of its load; may be empty.
  using OnEvent = std::function<void(std::string_view text)>;

  /// Creates the collections if absent.
  static Result<std::unique_ptr<Journal>> Open(Clients& clients, OnEvent on_event);

  /// The figures of a load as it wrote them last; none if it has never run on this store.
  Result<Figures> Read(const std::string& load);
  Status Write(const std::string& load, const Figures& figures, const Texts& texts = {});
  /// Records an event that is of interest to users.
  Status Note(const std::string& load, const std::string& text);

 private:
  Journal(Clients& clients, OnEvent on_event) : clients_(clients), on_event_(std::move(on_event)) {}

  Clients& clients_;
  const OnEvent on_event_;
};

}  // namespace braid::cli::demo
