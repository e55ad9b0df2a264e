// The fields of an error reply, used by wire/ and commands/.
#pragma once

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson {

/// {ok: 0, errmsg, code, codeName, …details}
Document ErrorReply(const Status& status);

}  // namespace braid::bson
