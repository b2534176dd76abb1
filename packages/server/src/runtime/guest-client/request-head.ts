import type { HeaderList, SlotRequest } from "../../domain/runs/runner.ts"
import { hasNoBody, writeRequestHead } from "../http1/write-request.ts"

/** A request to a process. Its path contains the id of the run. */
export interface GuestRequest extends Pick<SlotRequest, "method" | "host" | "headers" | "body"> {
  readonly path: string
}

/** The head of a request, and the framing of its body. */
export interface GuestRequestHead {
  readonly text: string
  /** Bytes of the body; undefined for a chunked one. */
  readonly length: number | undefined
}

/** Undefined when a character would change the meaning of the request. */
export function toRequestHead(request: GuestRequest): GuestRequestHead | undefined {
  const { method, headers, body } = request
  const length = body === null ? 0 : body instanceof Uint8Array ? body.length : findLength(headers)
  const text = writeRequestHead(
    request,
    body === null && hasNoBody(method) ? "" : toFraming(length),
  )
  return text === undefined ? undefined : { text, length }
}

function toFraming(length: number | undefined): string {
  return length === undefined ? "transfer-encoding: chunked\r\n" : `content-length: ${length}\r\n`
}

function findLength(headers: HeaderList): number | undefined {
  const value = headers.find(([name]) => name === "content-length")?.[1]
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}
