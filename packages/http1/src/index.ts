/**
 * HTTP/1.1 on sockets, as a client and as a server, with one opinion about where a message ends.
 *
 * ```ts
 * import { ConnectionPool, http1Limits, writeRequest } from "@hamlet/http1"
 *
 * using server = Bun.serve({ port: 0, fetch: () => new Response("hello") })
 * const pool = new ConnectionPool({
 *   ...http1Limits,
 *   bufferedBytesMax: 65_536,
 *   pooledMax: 8,
 *   pooledMsMax: 15_000,
 * })
 * const socket = { hostname: "127.0.0.1", port: server.port ?? 0 }
 * const connection = pool.connect({ key: "example", socket })
 * const request = writeRequest({ method: "GET", host: "localhost", path: "/", headers: [] }, 0)
 * if (!request) throw new Error("a character of the request cannot be sent")
 * const ended = Promise.withResolvers<void>()
 * connection.send(request, {
 *   onResponse({ head, body }) {
 *     console.log(head.status, String(body)) // 200 hello
 *   },
 *   onEnd: ended.resolve,
 *   onFailure: ended.reject,
 * })
 * await ended.promise
 * pool.stop()
 * ```
 */

export { type PartReader, toStream } from "./connections/byte-queue.ts"
export {
  BadRequest,
  ClientConnection,
  ClientGone,
  type ClientRequest,
} from "./connections/client-connection.ts"
export { ConnectionPool } from "./connections/connection-pool.ts"
export {
  type Destination,
  type Exchange,
  type ExchangeListener,
  Http1Connection,
  Http1Failure,
  type ReceivedResponse,
} from "./connections/http1-connection.ts"
export { http1Limits, type PoolLimits } from "./http1-limits.ts"
export type { HeaderList } from "./messages/header-lines.ts"
export { isHopByHopHeader, parseConnectionNames } from "./messages/hop-by-hop-headers.ts"
export { toKnownMethod } from "./messages/known-method.ts"
export { parseRequestHead, type RequestHead } from "./messages/request-head.ts"
export type { ResponseHead } from "./messages/response-reader.ts"
export {
  isProperHeader,
  isRepeatable,
  upgradeLines,
  type WrittenRequest,
  writeRequest,
} from "./messages/write-request.ts"
