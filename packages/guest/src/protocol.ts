/**
 * What host and guest say to each other. Nobody on the host may believe a word of it: the val runs in the guest's process and can say whatever
 * the guest can. Everything in it therefore concerns this one process and the runs that the host has sent there, and nothing else.
 *
 * There are two Unix sockets in `/run/val`, which inside the sandbox is the only folder shared with the host:
 *
 *   control.sock   the host listens, the guest connects once before any code of a val is there, and the host accepts nobody else.
 *                  JSON, one message a line, in both directions.
 *   in.sock        the guest listens, the host sends runs as HTTP requests:
 *
 *     ANY  /h{runId}{path}?{query}   a request to the val's web address; the Host header is the public one. The guest gives the val a Request
 *                                    whose `url` is `{scheme}://{host}{path}?{query}`. The answer is the val's own, or a Failure.
 *     POST /c{runId}                 a call with arguments, with the host `call`; the body is a CallBody, the answer a Returned or a Failure.
 *
 *   out.sock       the host listens: the proxy through which everything goes that the val sends out. Deno finds it by itself, from HTTP_PROXY,
 *                  and sends requests of every scheme there in plain HTTP/1.1 with the whole address as their target; the proxy does the TLS.
 *                  The guest adds `runHeader` to say which run a request is of, and turns an answer with `blockedHeader` into an error.
 *
 * A failure is an answer with the header `failureHeader`, whose body is a Failure in JSON.
 */
export const failureHeader = "x-hamlet-failure"

/**
 * `{key} {runId}` on a request to out.sock; the key is that of the Surroundings, which code of the
 * val does not know.
 */
export const runHeader = "x-hamlet-run"

/**
 * On the proxy's own answer to a request that it did not let out; the body says why, in a sentence.
 */
export const blockedHeader = "x-hamlet-blocked"

/**
 * The property of the global object by which the stub of a package asks for its namespace: `(hash,
 * entry) => namespace`.
 */
export const packagesSymbol = "hamlet.packages"

/**
 * How the code of packages becomes the script that the guest runs. Whoever makes a code cache for
 * it has to compile the very same text: V8 takes none that was made for another.
 */
export const packagesScript = {
  name: "packages.js",
  before: "(function(module,exports,require){",
  after: "\n})",
} as const

/**
 * The first line the host sends: what this process is to be from now on. It comes as soon as the
 * host knows, as do those that follow, so that the guest wakes up and gets ready while the host
 * reads and writes what belongs to the val.
 */
export interface Load {
  readonly kind: "load"
  /** The address of the val's module. */
  readonly url: string
  /** `{user}/{val}`, for messages. */
  readonly label: string
  /**
   * The run that is waiting for it: what the module logs or throws while it is evaluated belongs to
   * that run.
   */
  readonly runId: string
  /** "http" or "https": how the public address begins. */
  readonly scheme: string
  /** The val's web address, for calls without arguments of a val that expects a request. */
  readonly endpoint: string
  readonly isHttp: boolean
  readonly limits: GuestLimits
}

/**
 * What the guest cuts of its own accord, so that the host need not read what it would throw away.
 */
export interface GuestLimits {
  readonly logBytesMax: number
  readonly returnBytesMax: number
}

/** The host asks whether anybody is at home; a process that is busy with a loop does not answer. */
export interface Ping {
  readonly kind: "ping"
}

/** Follows the Load: what the val is given beside its code. */
export interface Surroundings {
  readonly kind: "surroundings"
  readonly env: Readonly<Record<string, string>>
  /** Shows that it was the guest who has added `runHeader`. */
  readonly egressKey: string
}

/** Comes last: the val's module and all it imports are in the module cache now. */
export interface Begin {
  readonly kind: "begin"
}

export type HostMessage = Load | Surroundings | Begin | Ping

/** The guest is up, listening and warm. */
export interface Warm {
  readonly kind: "warm"
}

/**
 * The module was evaluated. `isCallable` is false when it exports no function, so that running it
 * again means evaluating it again.
 */
export interface Loaded {
  readonly kind: "loaded"
  readonly isCallable: boolean
}

/** The module could not be loaded, or threw while it was evaluated. */
export interface LoadFailed {
  readonly kind: "load_failed"
  readonly error: ErrorText
}

export interface Log {
  readonly kind: "log"
  readonly run: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly level: LogLevel
  readonly message: string
}

/** What has been logged beyond the limit is gone. */
export interface LogsCut {
  readonly kind: "logs_cut"
  readonly run: string
}

/** An error that nobody caught, before or after the answer. */
export interface Uncaught {
  readonly kind: "uncaught"
  readonly run: string
  readonly error: ErrorText
}

/**
 * The val answered an upgrade request with something else than a WebSocket; the client of one
 * cannot see what.
 */
export interface Refused {
  readonly kind: "refused"
  readonly run: string
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  /** Base64, cut. */
  readonly body: string
}

export interface Pong {
  readonly kind: "pong"
}

export type GuestMessage = Warm | Loaded | LoadFailed | Log | LogsCut | Uncaught | Refused | Pong

export type LogLevel = "debug" | "log" | "info" | "warn" | "error"

export interface ErrorText {
  readonly name: string
  readonly message: string
  readonly stack?: string
}

/** The arguments of a call. */
export interface CallBody {
  readonly args: readonly unknown[]
}

/**
 * What a call gave. `logCount` is how many Log messages the run has sent before, so that the host
 * can wait for them.
 */
export interface Returned {
  readonly value: unknown
  readonly isTruncated: boolean
  readonly logCount: number
}

export interface Failure {
  readonly error: ErrorText
  readonly logCount: number
}
