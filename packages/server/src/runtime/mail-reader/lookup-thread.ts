import { serveJobs } from "@hamlet/kit"
import { type LookupJob, lookUpSender } from "./look-up-sender.ts"
import type { SenderFindings } from "./sender-records.ts"

serveJobs<LookupJob, SenderFindings>(async (job) => ({ result: await lookUpSender(job) }))
