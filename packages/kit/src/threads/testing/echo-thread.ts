import { serveJobs } from "../serve-jobs.ts"

/** The jobs that wait to be released. */
const waiting: (() => void)[] = []

// A thread for tests: it says what it is told, fails, goes on for ever, or ends. A job may wait
// until another one releases it.
serveJobs<Record<string, unknown>, unknown>(async (job) => {
  if (job.fail) throw new Error(String(job.fail))
  if (job.wait) await new Promise<void>((resolve) => waiting.push(resolve))
  if (job.release) for (const release of waiting.splice(0)) release()
  while (job.spin);
  if (job.exit) process.exit(0)
  return { result: job.say }
})
