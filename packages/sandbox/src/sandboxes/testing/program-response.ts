import type { ProgramResponse } from "../../program/runner.ts"

/** Converts a response to the response of a program. */
export function toProgramResponse({ status, headers, body }: Response): ProgramResponse {
  return { status, headers: [...headers], body }
}

/** Reads the body of a response as text. */
export function readResponseText({ body }: ProgramResponse): Promise<string> {
  return new Response(body as Uint8Array<ArrayBuffer> | ReadableStream | null).text()
}
