import type { RunWrite, Script } from "../database/database.ts"
import type { Dialect } from "../database/dialect.ts"
import { purgeBeyond, purgeFrom, purgeOlder, purgeRuns } from "./purge-runs.ts"
import { recordRuns } from "./record-runs.ts"

/** The script that does this work. It returns whether the same work, asked for again, may do more. */
export function* writeRuns(dialect: Dialect, work: RunWrite): Script<boolean> {
  switch (work.kind) {
    case "record":
      yield* recordRuns(dialect, work.runs)
      return false
    case "purge_deleted":
      return yield* purgeRuns(work.runsMax)
    case "purge_older":
      return yield* purgeOlder(work.before, work.runsMax)
    case "purge_beyond":
      return yield* purgeBeyond(work.valId, work.keptMax, work.runsMax)
    case "purge_from":
      return yield* purgeFrom(work.accountId, work.from, work.runsMax)
  }
}
