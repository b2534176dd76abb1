import { parseOwnJson, readBytes, toOwnJson } from "@hamlet/kit"

/** Where a libSQL server is, and the keys that it asks for. */
export interface LibsqlOptions {
  /** The address of the databases. */
  readonly url: string
  /** The address of the admin API. */
  readonly adminUrl: string
  readonly key?: string | undefined
  readonly adminKey?: string | undefined
}

/** A value as the protocol of the server (Hrana) has it. 64-bit integers are texts. */
export type LibsqlValue =
  | { readonly type: "null" }
  | { readonly type: "integer"; readonly value: string }
  | { readonly type: "float"; readonly value: number | null }
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "blob"; readonly base64: string }

/** A statement of our own. */
export interface LibsqlStatement {
  readonly sql: string
  readonly args?: readonly LibsqlValue[]
}

/** A response to a pipeline: its bytes, which may be megabytes, are not parsed here. */
export type LibsqlReply =
  | { readonly kind: "done"; readonly bytes: Uint8Array }
  | { readonly kind: "no_namespace" }
  /** The stream of the request has expired, or the server has started again. Nothing was done. */
  | { readonly kind: "no_stream" }
  | { readonly kind: "too_large" }

/** The server cannot be used at the moment. The message is for users, and names no address. */
export class LibsqlUnavailable extends Error {
  constructor(
    message: string,
    /** Whether the server may have done what it was asked for. */
    readonly isSent: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

const limits = {
  /** The time of a request of our own. */
  msMax: 10_000,
  /** The response to a request of our own: at most 1,000 short rows. */
  bytesMax: 524_288,
  /** The text of an error that is read. */
  errorCharsMax: 2_000,
  /** One text, blob or row. The server's default is 5 MB. */
  valueBytesMax: 16_777_216,
}

/** A pipeline of requests on its way to the server. */
export interface LibsqlPost {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  /** Bytes of the response. */
  readonly bytesMax: number
}

/** A response; its bytes are undefined if they are too many. */
export interface LibsqlPosted {
  readonly status: number
  readonly bytes: Uint8Array | undefined
}

/** A client of a libSQL server with namespaces: one database each. */
export type LibsqlServer = ReturnType<typeof createLibsqlServer>

/**
 * Creates the client. Nothing is connected before the first request. The namespace is named in a
 * header and not in the name of the host, so that one address and one certificate are enough.
 */
export function createLibsqlServer(
  { url, adminUrl, key, adminKey }: LibsqlOptions,
  post: (request: LibsqlPost) => Promise<LibsqlPosted> = fetchPosted,
) {
  const pipelineUrl = new URL("v2/pipeline", withSlash(url))
  // The server would compress each response, which takes longer than most statements.
  const common = {
    "accept-encoding": "identity",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }

  /** Sends a pipeline of requests, as JSON. */
  const send = async (
    namespace: string,
    body: string,
    { signal, bytesMax }: { readonly signal: AbortSignal; readonly bytesMax: number },
  ): Promise<LibsqlReply> => {
    const headers = { ...common, "x-namespace-bin": toHeader(namespace) }
    const { status, bytes } = await post({ url: pipelineUrl, headers, body, signal, bytesMax })
    if (status === 200) return bytes ? { kind: "done", bytes } : { kind: "too_large" }
    const text = Buffer.from(bytes?.subarray(0, limits.errorCharsMax) ?? []).toString()
    if (status === 404 && text.includes("doesn't exist")) return { kind: "no_namespace" }
    if (status === 400 && /baton|stream/i.test(text)) return { kind: "no_stream" }
    throw toUnavailable(status, "")
  }

  /** The status of a response of the admin API, and the text of an error. */
  const administer = async (method: string, path: string, body?: object) => {
    const headers: Record<string, string> = { "content-type": "application/json" }
    if (adminKey !== undefined) headers.authorization = `Basic ${adminKey}`
    const response = await reach(new URL(`v1/namespaces/${path}`, withSlash(adminUrl)).href, {
      method,
      headers,
      signal: AbortSignal.timeout(limits.msMax),
      ...(body === undefined ? {} : { body: toOwnJson(body) }),
    })
    const text = response.ok ? "" : await readError(response)
    if (response.ok) await response.body?.cancel()
    return { status: response.status, text }
  }

  return {
    send,
    /**
     * Runs statements of our own one after the other on one connection, and closes it. Returns the
     * rows of each; undefined if there is no such namespace. Throws when one fails.
     */
    async execute(
      namespace: string,
      statements: readonly LibsqlStatement[],
      signal: AbortSignal = AbortSignal.timeout(limits.msMax),
    ): Promise<readonly LibsqlValue[][][] | undefined> {
      const requests = [...statements.map(toRequest), { type: "close" }]
      const reply = await send(namespace, toOwnJson({ requests }), {
        signal,
        bytesMax: limits.bytesMax,
      })
      return reply.kind === "no_namespace" ? undefined : readPipeline(reply).rows.slice(0, -1)
    },
    /** Creates a namespace, unless it exists. What it acknowledges is on disk. */
    async createNamespace(namespace: string, bytesMax: number): Promise<void> {
      const { status, text } = await administer("POST", `${namespace}/create`, {
        max_db_size: String(bytesMax),
        max_row_size: limits.valueBytesMax,
        durability_mode: "strong",
      })
      if (status !== 200 && !text.includes("already exists"))
        throw toUnavailable(status, " of its admin API")
    },
    /**
     * Changes how large the database may become. Connections that are open keep the old limit. If it
     * was removed, the next request notices, and creates it with its limit.
     */
    async limitNamespace(namespace: string, bytesMax: number): Promise<void> {
      const { status } = await administer("POST", `${namespace}/config`, {
        max_db_size: String(bytesMax),
        block_reads: false,
        block_writes: false,
        durability_mode: "strong",
      })
      if (status !== 200 && status !== 404) throw toUnavailable(status, " of its admin API")
    },
    /** Deletes a namespace with its database, if it exists. */
    async removeNamespace(namespace: string): Promise<void> {
      const { status } = await administer("DELETE", namespace)
      if (status !== 200 && status !== 404) throw toUnavailable(status, " of its admin API")
    },
    /** Whether the admin API knows the namespace. */
    async hasNamespace(namespace: string): Promise<boolean> {
      const { status } = await administer("GET", `${namespace}/config`)
      if (status !== 200 && status !== 404) throw toUnavailable(status, " of its admin API")
      return status === 200
    },
  }
}

const streamLimits = { msMax: 60_000, bytesMax: 33_554_432 }

/**
 * A connection to a database, for statements of our own in one transaction. It is opened with its
 * first statement.
 */
export function openLibsqlStream(server: LibsqlServer, namespace: string) {
  let baton: string | undefined
  const run = async (requests: readonly object[]) => {
    const { msMax, bytesMax } = streamLimits
    const body = toOwnJson({ baton: baton ?? null, requests })
    const reply = await server.send(namespace, body, {
      signal: AbortSignal.timeout(msMax),
      bytesMax,
    })
    if (reply.kind === "no_namespace") return undefined
    const { rows, baton: next } = readPipeline(reply)
    baton = next
    return rows
  }
  return {
    /** The rows of each statement; undefined if there is no such namespace. Throws when one fails. */
    send: (statements: readonly LibsqlStatement[]) => run(statements.map(toRequest)),
    /** A transaction that is open ends without a change. */
    async close(): Promise<void> {
      if (baton !== undefined) await run([{ type: "close" }]).catch(() => {})
      baton = undefined
    },
  }
}

/** A request that runs a statement. */
function toRequest({ sql, args = [] }: LibsqlStatement) {
  return { type: "execute", stmt: { sql, args } }
}

interface PipelineResponse {
  readonly baton: string | null
  readonly results: readonly (
    | {
        readonly type: "ok"
        readonly response: { readonly result?: { readonly rows: LibsqlValue[][] } }
      }
    | { readonly type: "error"; readonly error: { readonly message: string } }
  )[]
}

/**
 * The rows of each request of a pipeline of our own, and the key to the stream, if it is still open.
 * Throws the first error.
 */
function readPipeline(reply: LibsqlReply): {
  readonly rows: readonly LibsqlValue[][][]
  readonly baton: string | undefined
} {
  try {
    if (reply.kind !== "done") throw new Error(reply.kind)
    const text = Buffer.from(reply.bytes).toString()
    const { baton, results } = parseOwnJson(text) as PipelineResponse
    const rows = results.map((result) => {
      if (result.type === "ok") return (result.response.result?.rows ?? []).map(toValues)
      throw new LibsqlUnavailable(`the libSQL server failed: ${result.error.message}`, true)
    })
    return { rows, baton: baton ?? undefined }
  } catch (cause) {
    if (cause instanceof LibsqlUnavailable) throw cause
    throw toUnexpected(cause)
  }
}

/** The response is not what the protocol promises. */
export function toUnexpected(cause?: unknown): LibsqlUnavailable {
  return new LibsqlUnavailable("the libSQL server did not respond as expected", true, { cause })
}

function toValues(row: LibsqlValue[]): LibsqlValue[] {
  if (row.every(({ type }) => typeof type === "string")) return row
  throw toUnexpected()
}

/** For callers that send few requests, and for addresses with TLS. */
export async function fetchPosted(request: LibsqlPost): Promise<LibsqlPosted> {
  const { url, headers, body, signal, bytesMax } = request
  const response = await reach(url.href, { method: "POST", headers, body, signal })
  return { status: response.status, bytes: await readBody(response, bytesMax, signal) }
}

async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, { ...init, redirect: "error" })
  } catch (error) {
    throw toFailure(error, init.signal)
  }
}

function toFailure(error: unknown, signal?: AbortSignal | null): LibsqlUnavailable {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  const isSent = !/ConnectionRefused|ECONNREFUSED|ENOTFOUND|FailedToOpenSocket/.test(code)
  return toUnreached(error, isSent, signal?.aborted ?? false)
}

/** Why there is no response. The cause is for the log: it may contain the address. */
export function toUnreached(
  cause: unknown,
  isSent: boolean,
  isAborted: boolean,
): LibsqlUnavailable {
  return isAborted
    ? new LibsqlUnavailable("the libSQL server does not respond", true)
    : new LibsqlUnavailable("the libSQL server cannot be reached", isSent, { cause })
}

/** The bytes of a response; undefined if there are too many. */
async function readBody({ body }: Response, bytesMax: number, signal?: AbortSignal) {
  try {
    return await readBytes(body, bytesMax)
  } catch (error) {
    throw toFailure(error, signal)
  }
}

async function readError(response: Response): Promise<string> {
  return (await readBody(response, limits.errorCharsMax))?.toString() ?? ""
}

function toUnavailable(status: number, which: string): LibsqlUnavailable {
  const reason =
    status === 401 || status === 403
      ? `refuses the key${which}`
      : `responded with status ${status}${which}`
  return new LibsqlUnavailable(`the libSQL server ${reason}`, false)
}

function withSlash(address: string): string {
  return address.endsWith("/") ? address : `${address}/`
}

/** Base64 without its padding. */
function toHeader(namespace: string): string {
  return Buffer.from(namespace).toString("base64url")
}
