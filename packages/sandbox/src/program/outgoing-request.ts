/** One outgoing request of a program. Its URL is masked and truncated. */
export interface OutgoingRequest {
  readonly at: number
  readonly method: string
  readonly url: string
  /** Null if there was no response. */
  readonly status: number | null
  /** Why it was blocked or aborted. */
  readonly blocked: string | null
  readonly bytesSent: number
  readonly bytesReceived: number
  readonly durationMs: number
}

/**
 * A secret that may be sent to certain hosts only. In the headers of requests to these hosts, the
 * placeholder is replaced by the value.
 */
export interface Substitution {
  readonly placeholder: string
  readonly value: string
  /** Host names in lower case, with the port if it is not the default. */
  readonly hosts: readonly string[]
}

/** The maximum length of a chain of programs that call each other. Other requests have depth 0. */
export const depthMax = 15

/**
 * The header with the depth of a request that a program sends to its own server. A client that forges
 * it only shortens its own chain.
 */
export const depthHeader = "x-hamlet-depth"
