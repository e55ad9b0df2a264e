// Whether a command has printed its JSON object (F4). The program's end asks: a command that failed before printing one
// prints an object with the error.
#pragma once

namespace braid::client {

/// PrintJson() was called, or MarkJsonPrinted().
bool JsonPrinted();
/// For commands that write their object piece by piece.
void MarkJsonPrinted();

}  // namespace braid::client
