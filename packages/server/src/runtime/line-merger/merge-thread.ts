import { type MergedLines, mergeLines } from "@hamlet/contract/merge-lines"
import { serveJobs } from "@hamlet/kit"
import type { MergeJob } from "./line-merger.ts"

serveJobs<MergeJob, MergedLines>(({ editsMax, ...input }) => ({
  result: mergeLines(input, editsMax),
}))
