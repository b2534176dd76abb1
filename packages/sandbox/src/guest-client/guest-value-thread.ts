import { createMask, serveJobs } from "@hamlet/kit"
import type { ReadJob, ReadResult } from "./guest-value-reader.ts"
import { readFailureText, readReturnedText } from "./guest-values.ts"

// A worker thread that reads the values and failures that guests send.
serveJobs<ReadJob, ReadResult>(async ({ kind, bytes, values }) => {
  const mask = await createMask(values)
  try {
    if (kind === "failure") return { result: readFailureText(bytes, mask) }
    const read = readReturnedText(bytes, mask)
    if (!read) return { result: undefined }
    const json = new TextEncoder().encode(read.json as string)
    return { result: { ...read, json }, transfer: [json.buffer] }
  } catch {
    // Invalid JSON, or nested too deeply to be walked.
    return { result: undefined }
  }
})
