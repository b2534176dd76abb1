/**
 * The protocol between host and guest. The host must not trust any of it: the val runs in the guest's
 * process and can send whatever the guest can. All messages therefore concern only this process and
 * the runs that the host has sent to it.
 *
 * The sockets are in `/run/val`, the only folder that the sandbox shares with the host:
 *
 *   control.sock   The host listens. The guest connects once, before any code of a val is there, and
 *                  the host accepts no other connection. One JSON message per line, both ways.
 *   in.sock        The guest listens. The host sends runs as HTTP requests:
 *
 *     ANY  /h{runId}{path}?{query}   A request to the val's web address, with its public Host header.
 *                                    The val gets a Request whose `url` is
 *                                    `{scheme}://{host}{path}?{query}`. The response is the val's own,
 *                                    or a Failure.
 *     POST /c{runId}                 A call with arguments, with the host `call`. The body is a
 *                                    CallBody, the response a Returned or a Failure.
 *     POST /m{runId}                 A call of a val of type email, with the host `call`. The body is
 *                                    the length of a JSON text in four bytes, the higher ones first,
 *                                    the JSON of an EmailBody, and the bytes of its attachments one
 *                                    after the other. The response is that of a call.
 *
 *   out.sock       The host listens: the proxy for all outgoing requests of the val. Deno finds it
 *                  through HTTP_PROXY and sends requests of every scheme there as plain HTTP/1.1 with
 *                  the whole URL as target; the proxy does the TLS. The guest adds `runHeader` to name
 *                  the run, and turns a response with `blockedHeader` into an error.
 *
 *   tcp.sock       The host listens: TCP connections of the val. Each connection begins with a frame
 *                  from the guest, a SocketRequest, and one from the host, a SocketReply. A frame is
 *                  its length in two bytes, the higher one first, and JSON in UTF-8. After the reply
 *                  `connected`, the connection carries the bytes of the socket, both ways; after
 *                  any other reply the host closes it.
 *
 *   unsent         A file of the guest: messages that it could not write to control.sock yet. The host
 *                  reads it when the process has ended. The first line is the number of the first
 *                  message in it, counted from 1 for Warm; the others are messages.
 *
 * A failure is a response with the header `failureHeader`, whose body is a Failure as JSON.
 */
export const failureHeader = "x-hamlet-failure"

/**
 * `{key} {runId}` on a request to out.sock. The key is that of Surroundings, which the val does not
 * know.
 */
export const runHeader = "x-hamlet-run"

/** The module of the guest with which Workers start, in a sandbox of bubblewrap. */
export const workerStarter = "/worker.js"

/** What the guest asks at tcp.sock. `run` is as in `runHeader`, or empty. */
export type SocketRequest =
  | {
      readonly kind: "connect"
      /** The name that the val connects to, or an address. */
      readonly host: string
      /** The address of that name which the val has chosen; absent: any of its addresses. */
      readonly address?: string
      readonly port: number
      readonly run: string
    }
  /** Asks for the addresses of a name. */
  | { readonly kind: "lookup"; readonly host: string; readonly run: string }
  /** Asks for other records of a name; `host` is an address if the type is PTR. */
  | {
      readonly kind: "records"
      readonly host: string
      readonly type: RecordType
      readonly run: string
    }

/** The records of a name that vals can look up, besides addresses. */
export const recordTypes = [
  "CAA",
  "CNAME",
  "MX",
  "NAPTR",
  "NS",
  "PTR",
  "SOA",
  "SRV",
  "TXT",
] as const

export type RecordType = (typeof recordTypes)[number]

/** A record as `node:dns` has it: names are strings, texts are lists, and the rest are objects. */
export type DnsRecord =
  | string
  | readonly string[]
  | Readonly<{ [field: string]: string | number | undefined }>

/** The host's reply to a SocketRequest. */
export type SocketReply =
  | { readonly kind: "connected"; readonly address: string }
  | { readonly kind: "found"; readonly addresses: readonly string[] }
  | { readonly kind: "records"; readonly records: readonly DnsRecord[] }
  /** The code is that of an error of Node; the message is for the val. */
  | { readonly kind: "refused"; readonly code: SocketErrorCode; readonly message: string }

export type SocketErrorCode =
  | "EACCES"
  | "EAGAIN"
  | "ECONNREFUSED"
  | "EHOSTUNREACH"
  | "EINVAL"
  | "ENOTFOUND"
  | "ETIMEDOUT"

/** The length of a SocketRequest in bytes, without the two bytes before it. */
export const socketRequestBytesMax = 1_024

/** On the proxy's own response to a blocked request; the body is the reason. */
export const blockedHeader = "x-hamlet-blocked"

/**
 * The global property through which the stub of a package gets its namespace: `(hash, entry) =>
 * namespace`.
 */
export const packagesSymbol = "hamlet.packages"

/**
 * The global property through which the standard library reads the files of the val: `(path) =>
 * text`, see ReadFile.
 */
export const filesSymbol = "hamlet.files"

/**
 * How the code of packages becomes the script that the host writes and the guest runs. A code cache
 * must be made from exactly the same text, or V8 rejects it.
 */
export const packagesScript = {
  /** A URL, as Deno demands. */
  name: "packages:bundle.js",
  before: "(function(module,exports,require){",
  after: "\n})",
} as const

/**
 * How the guest is started. Deno parses a module before V8 does, which takes longer than all that
 * the guest does then; so the main module only has V8 evaluate the guest as a script. Its path is
 * the fifth argument.
 */
export const guestScript = {
  /** Where its code is, in stacks. */
  name: "hamlet:guest",
  before: "(async () => {",
  after: "\n})()",
  mainModule: `const [started, failure] = Deno[Deno.internal].core.evalContext(Deno.readTextFileSync(Deno.args[4]), "hamlet:guest")
if (failure) throw failure.thrown
await started
`,
  /**
   * Comes before the main module in the process that makes the code cache. Deno stores a script as
   * V8 has compiled it before it runs, which is without most of its functions. When the script is
   * evaluated again, V8 has those that were called since, and Deno stores them too. The guest does
   * not start twice: it finds no internals any more.
   */
  beforeCompiling: `const { evalContext } = Deno[Deno.internal].core
const guest = Deno.readTextFileSync(Deno.args[4])
globalThis.compileAgain = () => evalContext(guest, "hamlet:guest")[0].catch(() => {})
`,
} as const

/** The name of the file of unsent messages. */
export const unsentName = "unsent"

/** The sixth argument of a guest that starts for a run which waits for it. */
export const hurried = "hurried"

/**
 * The first line from the host: what this process serves. Like the messages that follow, it is sent
 * as early as possible, so that the guest prepares while the host reads and writes what belongs to
 * the val.
 */
export interface Load {
  readonly kind: "load"
  /** The URL of the val's module. */
  readonly url: string
  /** `{user}/{val}`, for messages. */
  readonly label: string
  /** The run that waits for the module: it gets the logs and errors of its evaluation. */
  readonly runId: string
  /** The scheme of the public URL: "http" or "https". */
  readonly scheme: string
  /** The val's web address, for calls without arguments of a val that expects a request. */
  readonly endpoint: string
  readonly isHttp: boolean
  readonly limits: GuestLimits
}

/** What the guest truncates, so that the host need not read what it would discard. */
export interface GuestLimits {
  readonly logBytesMax: number
  readonly returnBytesMax: number
}

/** Asks whether the guest is alive; a process in a busy loop does not reply. */
export interface Ping {
  readonly kind: "ping"
}

/** Follows Load: what the val gets besides its code. */
export interface Surroundings {
  readonly kind: "surroundings"
  readonly env: Readonly<Record<string, string>>
  /** Proves that the guest has added `runHeader`. */
  readonly egressKey: string
}

/** Comes last: the val's module and its imports are in the module cache now. */
export interface Begin {
  readonly kind: "begin"
  /**
   * The modules of Node that the val's modules import, without `node:`. The guest changes some of
   * them, and does not load them for vals that do not import them.
   */
  readonly builtIns: readonly string[]
  readonly packages: PackagesUse
}

/**
 * How the guest evaluates the packages of a val.
 *
 * none:   there are none
 * plain:  they are small and do not seem to use Node. To load Node's `vm` for the code cache would
 *         take longer than compiling them without, so it is used only if it is loaded already.
 * cached: with V8's code cache
 */
export type PackagesUse = "none" | "plain" | "cached"

/** The reply to a ReadFile. */
export interface FileReply {
  readonly kind: "file"
  readonly id: number
  /** Null when there is no such file. */
  readonly text: string | null
  /** The host could not read it. */
  readonly isFailed: boolean
}

export type HostMessage = Load | Surroundings | Begin | Ping | FileReply

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

/** So many lines of the run's log were dropped before those that follow. */
export interface LogsSkipped {
  readonly kind: "logs_skipped"
  readonly run: string
  readonly lines: number
}

/** An uncaught error, before or after the response. */
export interface Uncaught {
  readonly kind: "uncaught"
  readonly run: string
  readonly error: ErrorText
}

/**
 * The val responded to an upgrade request without a WebSocket; its client cannot see the response.
 */
export interface Refused {
  readonly kind: "refused"
  readonly run: string
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  /** Base64, truncated. */
  readonly body: string
}

/**
 * Asks for the text of a file of the val, in the version that this process runs. Without a path, for
 * the JSON of the list of its files.
 */
export interface ReadFile {
  readonly kind: "read_file"
  readonly id: number
  readonly path: string | null
}

export interface Pong {
  readonly kind: "pong"
}

export type GuestMessage =
  | Warm
  | Loaded
  | LoadFailed
  | Log
  | LogsSkipped
  | Uncaught
  | Refused
  | ReadFile
  | Pong

export type LogLevel = "debug" | "log" | "info" | "warn" | "error"

export interface ErrorText {
  readonly name: string
  readonly message: string
  readonly stack?: string
}

/** The arguments of a call. */
export interface CallBody {
  readonly args: readonly unknown[]
  /**
   * Whether `{ "$date": ms }` in the arguments stands for a Date. Only for arguments that the server
   * has made itself.
   */
  readonly isTyped?: boolean
}

/** The argument of a val of type email. The guest makes a File of each attachment. */
export interface EmailBody {
  readonly attachments: readonly {
    readonly name: string
    readonly type: string
    /** In bytes. */
    readonly size: number
  }[]
  /** In ISO format; the guest makes a Date of it. */
  readonly date?: string
}

/**
 * The result of a call. `logCount` is how many Log messages the run has sent before, so that the
 * host can wait for them.
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
