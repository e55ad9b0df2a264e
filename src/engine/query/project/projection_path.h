// Paths as projections accept them: no empty component, none that starts with a dollar sign, at most 200 deep.
#pragma once

#include <string_view>

#include "braid/status.h"

namespace braid::query {

/// OK, or MongoDB's code for the fault: 40352 empty, 40353 trailing dot, 15998 empty component, 16410 leading '$',
/// 16411 NUL, kOverflow.
Status CheckProjectionPath(std::string_view path);

/// The first component of a dotted path; takes it (and its dot) off the path.
inline std::string_view TakeComponent(std::string_view* path) {
  const size_t dot = path->find('.');
  const std::string_view component = path->substr(0, dot);
  path->remove_prefix(dot == std::string_view::npos ? path->size() : dot + 1);
  return component;
}

}  // namespace braid::query
