// Whether a command has printed its JSON object (F4), for the program's end: a command that failed before prints one
// that says why.
#pragma once

namespace braid::client {

/// PrintJson() was called, or MarkJsonPrinted().
bool JsonPrinted();
/// For commands that write their object piece by piece.
void MarkJsonPrinted();

}  // namespace braid::client
