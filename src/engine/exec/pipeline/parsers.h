// The parsers of the stages. One file per stage or per few similar stages; the table is in stages.cc.
#pragma once

#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {

using ParseStage = Status(StageParser& parser, std::string_view name, const bson::Value& specification);

ParseStage ParseAddFields, ParseProject, ParseUnset;                                                    // project.cc
ParseStage ParseBucket;                                                                                 // bucket.cc
ParseStage ParseCount;                                                                                  // count.cc
ParseStage ParseCurrentOp, ParseCollStats, ParseIndexStats, ParseListLocalSessions, ParseListSessions,  // report.cc
    ParseListSampledQueries, ParseShardedDataDistribution;
ParseStage ParseGroup;                          // group.cc
ParseStage ParseLimit, ParseSkip;               // limit.cc
ParseStage ParseMatch;                          // match.cc
ParseStage ParseMerge;                          // merge.cc
ParseStage ParseOut;                            // out.cc
ParseStage ParseReplaceRoot, ParseReplaceWith;  // replace_root.cc
ParseStage ParseSample;                         // sample.cc
ParseStage ParseSort;                           // sort.cc
ParseStage ParseSortByCount;                    // sort_by_count.cc
ParseStage ParseUnwind;                         // unwind.cc

}  // namespace braid::query::pipeline
