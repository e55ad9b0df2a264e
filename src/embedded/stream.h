// A libmongoc stream whose other end is the engine in this process.
#pragma once

#include <mongoc/mongoc.h>

#include "engine/commands/engine.h"
#include "engine/wire/handler.h"

namespace braid::embedded {

/// A new connection. A whole request that is written is answered at once, on the writer's thread, and its reply waits
/// to be read. The engine and its handler must outlive the stream; libmongoc destroys it.
mongoc_stream_t* NewStream(commands::Engine& engine, wire::Handler& handler);

}  // namespace braid::embedded
