import type { RunInput } from "../../domain/runs/runs.ts"

/** What earlier versions of the server stored of a request. */
interface OldRequestInput {
  readonly contentType: string | null
  readonly body: string
}

/** The JSON of the column. */
export type StoredRunInput = RunInput | OldRequestInput

/** What a run is started with, from its column. */
export function fromStoredInput(stored: StoredRunInput | null): RunInput | undefined {
  if (stored === null || "headers" in stored || "kind" in stored) return stored ?? undefined
  return {
    headers: stored.contentType === null ? [] : [["content-type", stored.contentType]],
    body: stored.body,
  }
}
