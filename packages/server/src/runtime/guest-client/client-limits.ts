import { http1Limits, type ResponseLimits } from "../http1/http1-limits.ts"

/** Limits of the connections to one process. They are not settings: no val needs more. */
export interface ClientLimits extends ResponseLimits {
  /** Bytes of a response body that are buffered ahead of its reader, plus one read. */
  readonly aheadBytesMax: number
  /** Idle connections that are kept, and for how long. */
  readonly idleMax: number
  readonly idleMsMax: number
}

export const clientLimits: ClientLimits = {
  ...http1Limits,
  aheadBytesMax: 65_536,
  idleMax: 64,
  idleMsMax: 10_000,
}
