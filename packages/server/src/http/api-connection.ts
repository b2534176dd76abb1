/** The client's connection. */
export interface ApiConnection {
  address?(): string
  /** Requests without a token count against this key; the address if it is absent. */
  readonly rateKey?: string
  /** Whether a val sends the request. It does not pass the proxy in front of the server. */
  readonly isVal?: boolean
  /** The run of that val that sends it, if it is known. */
  readonly runId?: string | undefined
}
