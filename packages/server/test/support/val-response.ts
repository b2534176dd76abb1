import type { ValResponse } from "../../src/domain/runs/runner.ts"

/** A response of a test as a val's answer. */
export function toValResponse({ status, headers, body }: Response): ValResponse {
  return { status, headers: [...headers], body }
}

/** The text of an answer. */
export function readResponseText({ body }: ValResponse): Promise<string> {
  return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream | null).text()
}
