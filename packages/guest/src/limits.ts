/** The guest's own limits. Limits that differ between vals are in the `limits` of Load. */
export const limits = {
  /**
   * The most output that waits for a host that does not read; of further logs, the last lines of
   * each run are kept.
   */
  outboxCharsMax: 1_048_576,
  /** How often the last lines of a log are sent that is too long. */
  tailMs: 250,
  /** The most of a message or a stack that is reported. */
  errorCharsMax: 32_768,
  /** The most causes of an error, and parts of an AggregateError, that are reported. */
  causesMax: 5,
  /** The depth of a serialised value. */
  valueDepthMax: 100,
  /** The most of a refused WebSocket response that is reported. */
  refusedBodyBytesMax: 65_536,
  /** How long a process waits for a val until it prepares for what some vals need. */
  idleMs: 500,
  /** How long a val that exports nothing may take until its server listens. */
  listenMsMax: 5_000,
  /** The most that localStorage, sessionStorage and caches hold, each. */
  storageBytesMax: 10 * 1024 ** 2,
} as const
