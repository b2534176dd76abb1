import { createMask } from "../../domain/secrets/secret-mask.ts"
import { serveJobs } from "../../shared/serve-jobs.ts"
import type { ReadJob, ReadResult } from "./guest-value-reader.ts"
import { readFailureText, readReturnedText } from "./guest-values.ts"

// A thread that reads what guests say.
serveJobs<ReadJob, ReadResult>(async ({ kind, bytes, values }) => {
  const mask = await createMask(values)
  try {
    if (kind === "failure") return { result: readFailureText(bytes, mask) }
    const read = readReturnedText(bytes, mask)
    if (!read) return { result: undefined }
    const json = new TextEncoder().encode(read.json as string)
    return { result: { ...read, json }, transfer: [json.buffer] }
  } catch {
    // It is no JSON, or nested too deep to be walked through.
    return { result: undefined }
  }
})
