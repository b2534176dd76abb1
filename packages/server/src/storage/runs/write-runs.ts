import type { RunWrite, Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { purgeBeyond, purgeFrom, purgeOlder, purgeRuns } from "./purge-runs.ts"
import { recordRuns } from "./record-runs.ts"

/** The script of this change. It returns whether the same change, made again, may find more to do. */
export function* writeRuns(dialect: Dialect, write: RunWrite): Script<boolean> {
  switch (write.kind) {
    case "record":
      yield* recordRuns(dialect, write.runs)
      return false
    case "purge_deleted":
      return yield* purgeRuns(write.runsMax)
    case "purge_older":
      return yield* purgeOlder(write.before, write.runsMax)
    case "purge_beyond":
      return yield* purgeBeyond(write.valId, write.keptMax, write.runsMax)
    case "purge_from":
      return yield* purgeFrom(write.accountId, write.from, write.runsMax)
  }
}
