import type { SlotRequest } from "../../domain/runs/runner.ts"
import { type WrittenRequest, writeRequest } from "../http1/write-request.ts"

/** A request to a process. Its path contains the id of the run. */
export interface GuestRequest extends Pick<SlotRequest, "method" | "host" | "headers" | "body"> {
  readonly path: string
}

/** Undefined when a character would change the meaning of the request. */
export function writeGuestRequest(request: GuestRequest): WrittenRequest | undefined {
  return writeRequest(request, findFraming(request))
}

/** A stream has the length that its client has stated. */
function findFraming({ headers, body }: GuestRequest): number | "chunked" {
  if (body === null || body instanceof Uint8Array) return body?.length ?? 0
  const value = headers.find(([name]) => name === "content-length")?.[1]
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : "chunked"
}
