import type { Histogram } from "../../shared/histogram.ts"
import type { JsonText } from "../../shared/json-text.ts"
import type { OutgoingRequest, Substitution } from "../egress.ts"
import type { Bundle } from "../modules/lockfiles.ts"
import type { Mask } from "../secrets/secret-mask.ts"
import type { ValType } from "../vals/vals.ts"
import type { Retirer } from "./retirement.ts"
import type { LogLine, RunError } from "./runs.ts"

/**
 * One version of a val on one account, with everything that it is made of. A process serves one
 * program and never another.
 */
export interface Program {
  /**
   * Programs with the same key are the same in every respect: code, imports, environment, account.
   */
  readonly key: string
  readonly valId: string
  readonly version: number
  readonly type: ValType
  readonly ownerId: string
  /** The user on whose account it runs. */
  readonly accountId: string
  /**
   * It runs for clients without a token, and without secrets though on its owner's account. It
   * never takes the place of what runs for the owner.
   */
  readonly isAnonymous?: boolean
  /** `{user}/{val}`, as in stacks and messages. */
  readonly label: string
  /** The address of its module, version included. */
  readonly entryUrl: string
  /** Its web address. */
  readonly endpoint: string
  /**
   * There while something of it is still being fetched: resolves when nothing is. `load` waits for
   * it too; whoever has a process waiting for it meanwhile should ask here first. Throws
   * `packages_pending` when it takes too long.
   */
  readonly whenFetched?: () => Promise<void>
  /** Reads the rest; asked once for each process. */
  load(): Promise<ProgramContent>
}

/** What a process is given. */
export interface ProgramContent {
  /** The val's module and every module that it may import, by their addresses. */
  readonly modules: readonly { readonly url: string; readonly code: string }[]
  /** What the modules import from elsewhere. */
  readonly bundles: readonly Bundle[]
  readonly env: Readonly<Record<string, string>>
  /** The secrets that only some hosts may get. */
  readonly substitutions: readonly Substitution[]
  /** Hides the values of secrets. */
  readonly mask: Mask
  /** The process is gone: what was made for it ends with it. */
  end(): void
}

/** Who hears what happens in a run: while it lasts, and after its answer until the time limit. */
export interface RunListener {
  readonly id: string
  /** How many vals have called one another until it came to this run. */
  readonly depth: number
  /**
   * How many bytes of another line are kept: none when the log is full. Absent where there is no
   * limit but that of a line.
   */
  readonly logBytesLeft?: number
  log(line: LogLine): void
  /** The val logged more than is kept. */
  noteTruncatedLogs(): void
  /** An error that nobody caught. */
  fail(error: RunError): void
  /** A request that it sent out is over, one way or another. */
  sent(request: OutgoingRequest): void
}

/** Runs programs in sandboxes. */
export interface Runner extends Retirer {
  /**
   * A slot for the run in a process of the program; a process is bound, or waited for, if there is
   * none. Throws `too_many_runs` when the val, the account or the queue is full and `overloaded`
   * when the server is.
   */
  acquire(program: Program, run: RunListener, client?: Client): RunSlot | Promise<RunSlot>
  /** Ends every process that runs a val of the user's, or runs on their account, at once. */
  endAllOf(userId: string): void
  /** The isolation in force, and how busy it is. */
  status(): RunnerStatus
}

/** Whoever asked for a run. */
export interface Client {
  /**
   * Aborted when they have gone. It is looked at now and then: to make one and to listen to it
   * would cost every request.
   */
  readonly signal: AbortSignal
}

/** How things stand with the sandboxes. */
export interface RunnerStatus {
  readonly isolation: string
  readonly processes: number
  readonly ready: number
  readonly runs: number
  readonly waiting: number
  /** What all processes have in memory, as last measured, and what they may have. */
  readonly memoryBytes: number
  readonly memoryBytesMax: number
  /**
   * How long runs that found no process of their val waited until one had loaded it, or had failed
   * to.
   */
  readonly coldStarts: Histogram
  /** Why no sandbox can be started, as a sentence, if none can. */
  readonly problem?: string | undefined
}

/**
 * A run's place in a process. Every way to use it gives a value: what a val does is an outcome, not
 * an error of ours.
 */
export interface RunSlot {
  /**
   * Sends a request on to the val. The answer's body is still to come; `leave` when it has ended.
   */
  fetch(request: SlotRequest): Promise<HttpOutcome>
  /** Opens a WebSocket to the val. */
  connect(request: SlotRequest): Promise<SocketOutcome>
  /** Calls the val with arguments. */
  call(args: CallArgs): Promise<CallOutcome>
  /**
   * Ends what the run does, at once if nobody else is in the process; what it was waiting for
   * becomes a Stopped with that status.
   */
  stop(status: "cancelled" | "timed_out"): void
  /**
   * The run is over for whoever asked for it. What it left running may go on and log until the time
   * limit.
   */
  release(): void
}

/** The arguments of a call: an array, or the JSON of one. */
export type CallArgs = readonly unknown[] | JsonText

/** A request to a val's web address. */
export interface SlotRequest {
  readonly method: string
  /** Public host name and port, as the val is to see it. */
  readonly host: string
  /** Path and query. */
  readonly target: string
  /** Without hop-by-hop headers. */
  readonly headers: HeaderList
  /** A stream is sent in chunks unless there is a `content-length`. */
  readonly body: ReadableStream<Uint8Array> | Uint8Array | null
  readonly client?: Client
}

/** Headers as they are sent: names in lower case, each of which may come more than once. */
export type HeaderList = readonly (readonly [name: string, value: string])[]

/** What a val answered. */
export interface ValResponse {
  readonly status: number
  readonly headers: HeaderList
  /** Bytes when all of it is here; a stream is to be read to its end, or cancelled. */
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null
}

/**
 * The name of the error when an answer ended before its end. It says how, not why: an error that
 * the val has thrown tells more.
 */
export const brokenResponse = "BrokenAnswer"

/**
 * The val threw, could not be loaded, or was stopped. The error is masked, and its stack names the
 * user's files.
 */
export interface Stopped {
  readonly kind: "stopped"
  readonly status: "failed" | "timed_out" | "cancelled" | "crashed"
  readonly error: RunError
}

/** What came of a request. */
export type HttpOutcome = { readonly kind: "responded"; readonly response: ValResponse } | Stopped

/** What a call returned. */
export interface Returned {
  readonly kind: "returned"
  /** What JSON can hold of the value, masked, as JSON: nothing here reads it again. */
  readonly json: string | Uint8Array
  /** The value as a run keeps it, which may be the beginning of the JSON as a text. */
  readonly kept: unknown
  /** It was too large, and the JSON is that of its beginning as a text. */
  readonly isTruncated: boolean
}

/** What came of a call. */
export type CallOutcome = Returned | Stopped

/** What came of opening a WebSocket; the val may answer with an ordinary response instead. */
export type SocketOutcome =
  | { readonly kind: "opened"; readonly socket: WebSocket; readonly protocol: string }
  | { readonly kind: "refused"; readonly response: ValResponse }
  | Stopped
