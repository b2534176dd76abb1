import { serveJobs } from "../../shared/threads/serve-jobs.ts"
import type { MailJob, MailJobResult } from "./mail-job.ts"
import { MessageRefused } from "./message-limits.ts"
import { readMessage } from "./read-message.ts"

serveJobs<MailJob, MailJobResult>(async (job) => {
  try {
    const mail = await readMessage(job)
    return { result: { mail }, transfer: [mail.content.buffer as ArrayBuffer] }
  } catch (error) {
    if (error instanceof MessageRefused) return { result: { problem: error.message } }
    throw error
  }
})
