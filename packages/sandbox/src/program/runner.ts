import type { HeaderList } from "@hamlet/http1"
import type { Histogram, JsonText, Mask, TraceSpan, Work } from "@hamlet/kit"
import type { OutgoingRequest, Substitution } from "./outgoing-request.ts"
import type { ProgramModule } from "./program-module.ts"
import type { StoredBundle } from "./stored-bundle.ts"

/** A line that a program has logged. */
export interface LogLine {
  /** An ISO date. */
  readonly at: string
  readonly level: "debug" | "log" | "info" | "warn" | "error"
  readonly message: string
}

/** An error that a program threw, or that ended its run. */
export interface RunError {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
}

/** The error of a run that was cancelled. */
export const cancelledError: RunError = { name: "Cancelled", message: "The run was cancelled" }

/** The error of a run whose client has gone before its response. */
export const disconnectedError: RunError = { name: "Cancelled", message: "The client disconnected" }

/**
 * Code with its imports and its environment, run on one account. A process serves one program and never
 * another.
 */
export interface Program {
  /** Programs with the same key have the same code, imports, environment and account. */
  readonly key: string
  /** Programs of a group share a limit of runs: all versions of what the caller runs as one thing. */
  readonly group: string
  /**
   * When a program of a line on an account has loaded, those with other keys and no higher version get no
   * more runs.
   */
  readonly line: string
  readonly version: number
  /** Whether it responds to requests; others are called. */
  readonly isHttp: boolean
  readonly accountId: string
  /** Its name, as stack traces and messages show it. */
  readonly label: string
  /** The URL of its module, with the version. */
  readonly entryUrl: string
  /** Its web address. */
  readonly endpoint: string
  /**
   * Set while packages of the program are being fetched; resolves when all are there. `load` waits
   * for them too: call this first, so that no process is reserved meanwhile. Rejects with
   * `packages_pending` when it takes too long.
   */
  readonly whenFetched?: () => Promise<void>
  /**
   * The text of a file that it may read; null if there is none. Without a path, the JSON of a list of
   * all files and folders.
   */
  readFile(path: string | null): Promise<string | null>
  /** Whether it is one of those that the caller means when programs are retired or ended. */
  isMeant(selection: unknown): boolean
  /** Reads code and secrets. Called once per process. */
  load(): Promise<ProgramContent>
}

/** Everything that a process needs to run a program. */
export interface ProgramContent {
  /** The program's module and every module that it may import. */
  readonly modules: readonly ProgramModule[]
  /** The packages that the modules import. */
  readonly bundles: readonly StoredBundle[]
  readonly env: Readonly<Record<string, string>>
  /** The secrets that may be sent to certain hosts only. */
  readonly substitutions: readonly Substitution[]
  /** Masks the values of secrets in logs, errors and results. */
  readonly mask: Mask
  /** Call when the process has ended: revokes its token. */
  end(): void
}

/** Receives the events of a run: until its response, and after that until the time limit. */
export interface RunListener {
  readonly id: string
  /** The number of programs that called each other before this run. */
  readonly depth: number
  /** The span of its code, which outgoing requests continue. Absent where traces are off. */
  readonly span?: TraceSpan | undefined
  /** Hears that the run has waited. */
  readonly work?: Work | undefined
  /**
   * Called when the run has its slot, before any code of the program runs for it. The run does not start
   * if this rejects, and `acquire` rejects with the error.
   */
  readonly begin?: ((slot: RunSlot) => Promise<void>) | undefined
  /** Bytes that another log line may have; 0 if it is to be skipped. Absent: no limit per run. */
  readonly logBytesLeft?: number
  log(line: LogLine): void
  /** The program has logged more than the guest has sent: that many lines before the next one. */
  skipLogs(lines: number): void
  /** The program threw an error that it did not catch. */
  fail(error: RunError): void
  /** Whether `sent` lists the next request. If not, it only counts it. Absent: it does. */
  readonly listsRequests?: boolean
  /** An outgoing request of the run has ended, successfully or not. */
  sent(request: OutgoingRequest): void
}

/** The text of a file. */
export interface SavedText {
  readonly path: string
  readonly code: string
}

/** A program of an account that will be started at a known time. */
export interface ExpectedStart {
  readonly accountId: string
  readonly inMs: number
}

/** Runs programs in sandboxes. */
export interface Runner {
  /**
   * Acquires a slot for the run in a process of the program. Starts a process, or waits for one, if
   * there is none. Rejects with `too_many_runs` when the limit of the program, the account or the queue
   * is reached, and with `overloaded` when the server's is.
   */
  acquire(program: Program, run: RunListener, client?: Client): Promise<RunSlot>
  /** Prepares for runs of texts that were saved. Absent where nothing runs. */
  prepare?(ownerId: string, texts: readonly SavedText[]): void
  /**
   * Starts processes ahead for programs that will be started within the next minute; replaces what
   * was expected before. Absent where nothing is started ahead.
   */
  expect?(starts: readonly ExpectedStart[]): void
  /** Processes of programs that are meant finish their runs and accept no new ones. */
  retire(selection: unknown): void
  /** Kills every process of a program that is meant. */
  endAll(selection: unknown): void
  /** The runs on the account that have a slot on this node. Those that wait for one do not count. */
  runsOf(accountId: string): number
  /** For health checks and metrics. */
  status(): RunnerStatus
}

/** The client that a run is for. */
export interface Client {
  /**
   * Aborted when the client has disconnected. Polled rather than listened to: creating the signal
   * and a listener would slow down every request.
   */
  readonly signal: AbortSignal
}

/** The state of the sandboxes. */
export interface RunnerStatus {
  readonly isolation: string
  readonly processes: number
  readonly ready: number
  readonly runs: number
  readonly waiting: number
  /** The memory of all processes, as last measured, and its limit. */
  readonly memoryBytes: number
  readonly memoryBytesMax: number
  /** How long runs without a ready process waited until one had loaded the program, or failed to. */
  readonly coldStarts: Histogram
  /** Why no sandbox can be started; undefined when they can. */
  readonly problem?: string | undefined
}

/**
 * A run's slot in a process. Its methods do not reject when the program fails: a failure of the program is
 * an outcome, not an error of the server.
 */
export interface RunSlot {
  /** Masks the values of the secrets that the program has. */
  readonly mask: Mask
  /** Forwards a request to the program. Call `release` when the body of the response has ended. */
  fetch(request: SlotRequest): Promise<HttpOutcome>
  /** Opens a WebSocket to the program. */
  connect(request: SlotRequest): Promise<SocketOutcome>
  /** Calls the default export of the program. */
  call(args: CallArgs | MailCall): Promise<CallOutcome>
  /**
   * Stops the run. Kills the process if no other run is in it. A pending `fetch`, `connect` or
   * `call` resolves to a `Stopped` with that status.
   */
  stop(status: "cancelled" | "timed_out"): void
  /** Frees the slot. Work that the run left behind may go on, and log, until the time limit. */
  release(): void
}

/** The arguments of a call: an array, the JSON of one, or values that JSON does not have. */
export type CallArgs = readonly unknown[] | JsonText | TypedArgs

/**
 * Arguments that this server has made, not a client. Anywhere in them, `{ $date: ms }` stands for a
 * Date.
 */
export interface TypedArgs {
  readonly typed: readonly unknown[]
}

/** The argument of a program of type `email` with its files, in the format of `encodeMail`. */
export interface MailCall {
  readonly mail: Uint8Array
}

/** Whether the arguments are a mail. */
export function isMailCall(args: CallArgs | MailCall): args is MailCall {
  return "mail" in args
}

/** A request to a program's endpoint. */
export interface SlotRequest {
  readonly method: string
  /** The public host name and port, as the program sees them. */
  readonly host: string
  /** Path and query. */
  readonly target: string
  /** Without hop-by-hop headers. */
  readonly headers: HeaderList
  /** A stream is sent in chunks unless there is a `content-length`. */
  readonly body: ReadableStream<Uint8Array> | Uint8Array | null
  readonly client?: Client
}

/** The response of a program. */
export interface ProgramResponse {
  readonly status: number
  readonly headers: HeaderList
  /** Bytes when the body is complete. A stream must be read to its end or cancelled. */
  readonly body: Uint8Array | ReadableStream<Uint8Array> | null
}

/**
 * The name of the error of an incomplete response. It does not say why, so an error that the program
 * threw replaces it.
 */
export const brokenResponse = "BrokenAnswer"

/**
 * The program threw, could not be loaded, or was stopped. The error is masked, and its stack trace
 * names the user's files.
 */
export interface Stopped {
  readonly kind: "stopped"
  readonly status: "failed" | "timed_out" | "cancelled" | "crashed"
  readonly error: RunError
}

/** The result of a request. */
export type HttpOutcome =
  | { readonly kind: "responded"; readonly response: ProgramResponse }
  | Stopped

/** What a call returned. */
export interface Returned {
  readonly kind: "returned"
  /** The value as masked JSON. The server never parses it. */
  readonly json: string | Uint8Array
  /** The value as the run records it: if it is too large, a string with the start of its JSON. */
  readonly kept: unknown
  /** The value was too large; `json` is a string with the start of its JSON. */
  readonly isTruncated: boolean
}

/** The result of a call. */
export type CallOutcome = Returned | Stopped

/** The result of opening a WebSocket. The program may refuse with an ordinary response. */
export type SocketOutcome =
  | { readonly kind: "opened"; readonly socket: WebSocket; readonly protocol: string }
  | { readonly kind: "refused"; readonly response: ProgramResponse }
  | Stopped
