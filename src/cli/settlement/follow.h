// Following the log from the command line: what `follow`, `ingest --follow` and `stats` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/settlement/actions.h"
#include "services/settlement/views/follower.h"

namespace CLI {
class Option;
}

namespace braid::cli::settlement {

/// How many transactions side by side write the views.
CLI::Option* AddWorkersOption(CLI::App& app, const std::string& name, uint32_t& workers);

/// One that names damage and failures on standard error.
Result<std::unique_ptr<braid::settlement::Follower>> StartFollower(Clients& clients, const Common& common,
                                                                   uint32_t workers);

/// "views at output 17, 0 records behind", and why if the store fails.
std::string Describe(const braid::settlement::FollowerFigures& figures);
/// "balances (balances, generation 2): up to output 17, 0 records behind"
std::string Describe(const braid::settlement::ViewProgress& view);
/// views: [{view, collection, generation, applied_seq, records, behind}] (F4).
void AppendTo(client::Bson& json, const std::vector<braid::settlement::ViewProgress>& views);

}  // namespace braid::cli::settlement
