// Records the part of a command that matters for choosing a shard key: which documents it asks for, not what it stores.
#pragma once

namespace braid::commands {

struct EngineParts;
struct Request;

/// Records a command that has run, if its collection is recorded (query_sampler.h). Call it only while the sampler is
/// active().
void RecordQuery(EngineParts& engine, const Request& request);

}  // namespace braid::commands
