import type { HeaderList, SlotRequest } from "../../domain/runs/runner.ts"
import { hasNoBody, writeRequestHead } from "../http1/write-request.ts"

/** A request as it is sent to a process: the path says for which run it is. */
export interface GuestRequest extends Pick<SlotRequest, "method" | "host" | "headers" | "body"> {
  readonly path: string
}

/** The head of a request, and how its body is sent. */
export interface RequestHead {
  readonly text: string
  /** Bytes of the body; undefined for a stream in chunks. */
  readonly length: number | undefined
}

/**
 * Writes the head of a request. Undefined when there is something in it that would make another
 * request of it.
 */
export function toRequestHead(request: GuestRequest): RequestHead | undefined {
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
