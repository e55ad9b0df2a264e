// Every command, by the name of its definition; commands.cc puts them into the table.
#pragma once

#include "engine/commands/command.h"

namespace braid::commands {

extern const Command kAbortTransaction;
extern const Command kAddShard;
extern const Command kAggregate;
extern const Command kBalancerCollectionStatus;
extern const Command kBalancerStart;
extern const Command kBalancerStatus;
extern const Command kBalancerStop;
extern const Command kBraidBackup;
extern const Command kBraidVerify;
extern const Command kBuildInfo;
extern const Command kBuildinfo;
extern const Command kBulkWrite;
extern const Command kCollMod;
extern const Command kCollStats;
extern const Command kCollstats;
extern const Command kCommitTransaction;
extern const Command kConfigureFailPoint;
extern const Command kConfigureQueryAnalyzer;
extern const Command kConnectionStatus;
extern const Command kCount;
extern const Command kCreate;
extern const Command kCreateIndexes;
extern const Command kCurrentOp;
extern const Command kDbStats;
extern const Command kDbstats;
extern const Command kDelete;
extern const Command kDeleteIndexes;
extern const Command kDistinct;
extern const Command kDrop;
extern const Command kDropDatabase;
extern const Command kDropIndexes;
extern const Command kEnableSharding;
extern const Command kEndSessions;
extern const Command kExplain;
extern const Command kFind;
extern const Command kFindAndModify;
extern const Command kFindandmodify;
extern const Command kGetCmdLineOpts;
extern const Command kGetLog;
extern const Command kGetMore;
extern const Command kGetParameter;
extern const Command kGetShardVersion;
extern const Command kHello;
extern const Command kHostInfo;
extern const Command kInsert;
extern const Command kIsMaster;
extern const Command kIsmaster;
extern const Command kKillAllSessions;
extern const Command kKillAllSessionsByPattern;
extern const Command kKillCursors;
extern const Command kKillOp;
extern const Command kKillSessions;
extern const Command kListCollections;
extern const Command kListCommands;
extern const Command kListDatabases;
extern const Command kListIndexes;
extern const Command kListShards;
extern const Command kMergeChunks;
extern const Command kMoveChunk;
extern const Command kMovePrimary;
extern const Command kMoveRange;
extern const Command kPing;
extern const Command kProfile;
extern const Command kRefreshSessions;
extern const Command kRemoveShard;
extern const Command kRenameCollection;
extern const Command kServerStatus;
extern const Command kShardCollection;
extern const Command kSplit;
extern const Command kStartSession;
extern const Command kUpdate;
extern const Command kValidate;
extern const Command kWhatsMyUri;

}  // namespace braid::commands
