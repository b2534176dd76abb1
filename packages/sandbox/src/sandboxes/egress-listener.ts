import type { Substitution } from "../program/outgoing-request.ts"
import type { RunListener } from "../program/runner.ts"

/**
 * The Unix socket through which a sandbox sends its outgoing requests. The host decides about each
 * of them.
 */
export interface EgressListener {
  /** Sets the process that sends the requests. Requests that came earlier wait for this call. */
  setClient(client: EgressClient): void
  /** Called before a run ends: what it has sent and received so far belongs to it. */
  noteRunEnd(run: RunListener): void
  stop(): void
}

/** The Unix sockets of a sandbox at which an egress listener listens. */
export interface EgressPaths {
  readonly requests: string
  /** For TCP connections. Undefined if the sandbox has none. */
  readonly sockets?: string | undefined
}

/** The process whose outgoing requests a listener forwards. */
export interface EgressClient {
  readonly ownerId: string
  /** Only the guest knows this key: it proves that the guest, not the program, named the run. */
  readonly egressKey: string
  readonly substitutions: readonly Substitution[]
  /**
   * Finds the run that a request names, if it belongs to this process. The depth is that of the
   * run while it is active, otherwise that of the deepest run in the process.
   */
  findRun(runId: string | undefined): {
    readonly run: RunListener | undefined
    readonly depth: number
  }
  /**
   * The run that uses a socket which is open: the run that used it last while that is active,
   * otherwise the only active run, if there is only one.
   */
  findSocketRun(last: RunListener | undefined): RunListener | undefined
  /** Masks secrets. With `charsMax`, the text is truncated there. */
  mask(text: string, charsMax?: number): string
}
