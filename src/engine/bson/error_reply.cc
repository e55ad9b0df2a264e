#include "engine/bson/error_reply.h"

#include "engine/bson/builder.h"

namespace braid::bson {

Document ErrorReply(const Status& status) {
  Builder builder;
  builder.Append("ok", 0.0).Append("errmsg", status.message()).Append("code", static_cast<int32_t>(status.code()));
  builder.Append("codeName", CodeName(status.code()));
  if (!status.details().empty()) builder.AppendAll(View(status.details()));
  return builder.Finish();
}

}  // namespace braid::bson
