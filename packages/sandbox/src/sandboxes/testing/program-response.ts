import type { ValResponse } from "../../program/runner.ts"

/** Converts a response to the response of a val. */
export function toValResponse({ status, headers, body }: Response): ValResponse {
  return { status, headers: [...headers], body }
}

/** Reads the body of a response as text. */
export function readResponseText({ body }: ValResponse): Promise<string> {
  return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream | null).text()
}
