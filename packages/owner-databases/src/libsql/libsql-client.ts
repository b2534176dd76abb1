import {
  ConnectionPool,
  type Destination,
  type Http1Connection,
  Http1Failure,
  http1Limits,
  type PoolLimits,
  type ReceivedResponse,
  writeRequest,
} from "@hamlet/http1"
import {
  fetchPosted,
  type LibsqlPost,
  type LibsqlPosted,
  toUnreached,
} from "../libsql-protocol/libsql-server.ts"

const limits: PoolLimits = {
  ...http1Limits,
  bufferedBytesMax: 262_144,
  pooledMax: 16,
  pooledMsMax: 10_000,
}

/**
 * Sends pipelines to a libSQL server on connections that are reused, which takes a third of the time
 * of `fetch`. An address with TLS is left to `fetch`, which knows the operator's certificates.
 */
export class LibsqlClient {
  readonly #pool = new ConnectionPool(limits)
  #destinations: readonly [Destination] | undefined

  /** Throws LibsqlUnavailable when there is no response, or the signal aborts. */
  async post(request: LibsqlPost): Promise<LibsqlPosted> {
    if (request.url.protocol !== "http:") return fetchPosted(request)
    const { signal, bytesMax } = request
    signal.throwIfAborted()
    const { exchange, response } = send(this.#connect(request.url), request)
    const abort = () => exchange.abort()
    signal.addEventListener("abort", abort)
    try {
      const { head, body } = await response
      const bytes = await readBody(body, bytesMax)
      // Otherwise the rest of it arrives for as long as the server sends.
      if (!bytes) abort()
      return { status: head.status, bytes }
    } catch (error) {
      const isSent = !(error instanceof Http1Failure && error.kind === "connect")
      throw toUnreached(error, isSent, signal.aborted)
    } finally {
      signal.removeEventListener("abort", abort)
    }
  }

  /** Closes all connections. Requests on them fail. */
  stop(): void {
    this.#pool.stop()
  }

  #connect({ hostname, port }: URL): Http1Connection {
    this.#destinations ??= [
      {
        key: "",
        socket: { hostname: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 80) },
      },
    ]
    this.#pool.sweep(performance.now())
    return this.#pool.take(this.#destinations) ?? this.#pool.connect(this.#destinations[0])
  }
}

function send(connection: Http1Connection, { url, headers, body }: LibsqlPost) {
  const bytes = Buffer.from(body)
  const about = { method: "POST", host: url.host, path: url.pathname }
  const written = writeRequest({ ...about, headers: Object.entries(headers) }, bytes.length)
  if (!written) throw new Error("Cannot send: the key of the libSQL server is no value of a header")
  const { promise, resolve, reject } = Promise.withResolvers<ReceivedResponse>()
  const listener = { onResponse: resolve, onFailure: reject, onEnd() {} }
  const exchange = connection.send(written, listener)
  exchange.write(bytes)
  exchange.endBody()
  return { exchange, response: promise }
}

/** The bytes of a body; undefined if there are too many. */
async function readBody(
  body: ReceivedResponse["body"],
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  if (body === null) return new Uint8Array()
  if (body instanceof Uint8Array) return body.length > bytesMax ? undefined : body
  const parts: Uint8Array[] = []
  let bytes = 0
  for (let part = await body.next(); part; part = await body.next()) {
    bytes += part.length
    if (bytes > bytesMax) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
