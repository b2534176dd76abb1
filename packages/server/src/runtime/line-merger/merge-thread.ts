import { serveJobs } from "../../shared/threads/serve-jobs.ts"
import type { MergeJob } from "./line-merger.ts"
import { type MergedLines, mergeLines } from "./merge-lines.ts"

serveJobs<MergeJob, MergedLines>(({ editsMax, ...input }) => ({
  result: mergeLines(input, editsMax),
}))
