import { http1Limits, type ResponseLimits } from "../http1/http1-limits.ts"

/**
 * What a process may take of us with its answers. Nothing here is a setting: no val needs more, and
 * a guest that does is up to something.
 */
export interface ClientLimits extends ResponseLimits {
  /**
   * What is read ahead of whoever reads the body of an answer; one read from the socket may come on
   * top.
   */
  readonly aheadBytesMax: number
  /** Connections of one process that are kept without a request. */
  readonly idleMax: number
  readonly idleMsMax: number
}

/** What holds. */
export const clientLimits: ClientLimits = {
  ...http1Limits,
  aheadBytesMax: 65_536,
  idleMax: 64,
  idleMsMax: 10_000,
}
