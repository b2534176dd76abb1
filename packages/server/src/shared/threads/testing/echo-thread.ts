import { serveJobs } from "../serve-jobs.ts"

// A thread for tests: it says what it is told, fails, goes on for ever, or ends.
serveJobs<Record<string, unknown>, unknown>((job) => {
  if (job.fail) throw new Error(String(job.fail))
  while (job.spin);
  if (job.exit) process.exit(0)
  return { result: job.say }
})
