import { type MergedLines, mergeLines } from "@hamlet/contract/merge-lines"
import { serveJobs } from "../../shared/threads/serve-jobs.ts"
import type { MergeJob } from "./line-merger.ts"

serveJobs<MergeJob, MergedLines>(({ editsMax, ...input }) => ({
  result: mergeLines(input, editsMax),
}))
