import { serveJobs } from "../../shared/threads/serve-jobs.ts"
import { type LookupJob, lookUpSender } from "./look-up-sender.ts"
import type { SenderFindings } from "./sender-records.ts"

serveJobs<LookupJob, SenderFindings>(async (job) => ({ result: await lookUpSender(job) }))
