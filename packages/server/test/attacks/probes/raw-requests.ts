/** Bytes that a client sends to a val's web address. */
export interface RawRequest {
  readonly tries: string
  readonly bytes: (to: RawTarget) => string
  /** The statuses of all answers, in their order. */
  readonly statuses: readonly number[]
  /** What is wrong with it comes so late that the val may have been asked already. */
  readonly isLate?: boolean
}

export interface RawTarget {
  /** The host of a val that tells what it was sent. */
  readonly host: string
  /** The host of another val. */
  readonly otherHost: string
  /** A mark in every path of this probe. */
  readonly mark: string
}

const close = "Connection: close\r\n"

function post({ host, mark }: RawTarget, headers: string, body: string): string {
  return `POST /${mark} HTTP/1.1\r\nHost: ${host}\r\n${headers}${close}\r\n${body}`
}

/** A whole request inside the body of another one. */
function smuggled({ otherHost, mark }: RawTarget): string {
  return `GET /smuggled-${mark} HTTP/1.1\r\nHost: ${otherHost}\r\n\r\n`
}

/**
 * Requests about whose end two readers might disagree. None may become two, and none may reach the
 * val in part.
 */
export const rawRequests: readonly RawRequest[] = [
  {
    tries: "a length before chunks (CL.TE)",
    bytes: (to) =>
      post(
        to,
        `Content-Length: ${5 + smuggled(to).length}\r\nTransfer-Encoding: chunked\r\n`,
        `0\r\n\r\n${smuggled(to)}`,
      ),
    statuses: [400],
  },
  {
    tries: "chunks before a length (TE.CL)",
    bytes: (to) =>
      post(
        to,
        `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n`,
        `${smuggled(to).length.toString(16)}\r\n${smuggled(to)}\r\n0\r\n\r\n`,
      ),
    statuses: [400],
  },
  {
    tries: "chunks spelt with a capital and a length",
    bytes: (to) =>
      post(to, `Transfer-Encoding: Chunked\r\nContent-Length: 5\r\n`, `0\r\n\r\n${smuggled(to)}`),
    statuses: [400],
  },
  {
    tries: "chunks twice",
    bytes: (to) =>
      post(
        to,
        `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n`,
        `0\r\n\r\n${smuggled(to)}`,
      ),
    statuses: [400],
  },
  {
    tries: "chunks and something else",
    bytes: (to) => post(to, `Transfer-Encoding: chunked, identity\r\n`, `0\r\n\r\n${smuggled(to)}`),
    statuses: [400],
  },
  {
    tries: "something that ends in chunked",
    bytes: (to) => post(to, `Transfer-Encoding: xchunked\r\n`, `0\r\n\r\n${smuggled(to)}`),
    statuses: [400],
  },
  {
    tries: "chunked behind a vertical tab",
    bytes: (to) =>
      post(to, `Transfer-Encoding:\vchunked\r\nContent-Length: 5\r\n`, `0\r\n\r\n${smuggled(to)}`),
    statuses: [400],
  },
  {
    tries: "a space before the colon of the coding",
    bytes: (to) =>
      post(to, `Transfer-Encoding : chunked\r\nContent-Length: 5\r\n`, `0\r\n\r\n${smuggled(to)}`),
    statuses: [400],
  },
  {
    tries: "the coding on a folded line",
    bytes: (to) =>
      post(
        to,
        `X: y\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n`,
        `0\r\n\r\n${smuggled(to)}`,
      ),
    statuses: [400],
  },
  {
    tries: "a coding on a folded line of its own",
    bytes: (to) =>
      post(
        to,
        `Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n`,
        `0\r\n\r\n${smuggled(to)}`,
      ),
    statuses: [400],
  },
  {
    tries: "two lengths",
    bytes: (to) =>
      post(to, `Content-Length: 0\r\nContent-Length: ${smuggled(to).length}\r\n`, smuggled(to)),
    statuses: [400],
  },
  {
    tries: "two lengths in one header",
    bytes: (to) => post(to, `Content-Length: 0, ${smuggled(to).length}\r\n`, smuggled(to)),
    statuses: [400],
  },
  {
    tries: "a length with a plus",
    bytes: (to) => post(to, "Content-Length: +5\r\n", `hello`),
    statuses: [400],
  },
  {
    tries: "a length below zero",
    bytes: (to) => post(to, "Content-Length: -1\r\n", `hello`),
    statuses: [400],
  },
  {
    tries: "a length in hexadecimal",
    bytes: (to) => post(to, "Content-Length: 0x5\r\n", `hello`),
    statuses: [400],
  },
  {
    tries: "a length too large for any number",
    bytes: (to) => post(to, "Content-Length: 99999999999999999999999\r\n", `hello`),
    statuses: [400],
  },
  {
    tries: "a length with a space in it",
    bytes: (to) => post(to, "Content-Length: 5 5\r\n", `hello`),
    statuses: [400],
  },
  {
    tries: "a space before the colon of the length",
    bytes: (to) => post(to, "Content-Length : 5\r\n", `hello`),
    statuses: [400],
  },
  {
    tries: "a header whose name holds a NUL",
    bytes: (to) => post(to, "X\0Content-Length: 5\r\nContent-Length: 0\r\n", ""),
    statuses: [400],
  },
  {
    tries: "a value that holds a NUL",
    bytes: (to) => post(to, "X: a\0b\r\nContent-Length: 0\r\n", ""),
    statuses: [400],
  },
  {
    tries: "a value that holds a bare CR",
    bytes: (to) => post(to, `X: a\rTransfer-Encoding: chunked\r\nContent-Length: 0\r\n`, ""),
    statuses: [400],
  },
  {
    tries: "a header line that ends in LF alone",
    bytes: (to) =>
      post(
        to,
        `X: a\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n`,
        `0\r\n\r\n${smuggled(to)}`,
      ),
    statuses: [400],
  },
  {
    tries: "a header without a name",
    bytes: (to) => post(to, ": chunked\r\nContent-Length: 0\r\n", ""),
    statuses: [400],
  },
  {
    tries: "a chunk of negative size",
    bytes: (to) => post(to, "Transfer-Encoding: chunked\r\n", `-1\r\n\r\n${smuggled(to)}`),
    statuses: [400],
    isLate: true,
  },
  {
    tries: "a chunk whose size is too large for any number",
    bytes: (to) =>
      post(to, "Transfer-Encoding: chunked\r\n", `ffffffffffffffffff\r\nx\r\n0\r\n\r\n`),
    statuses: [400],
    isLate: true,
  },
  {
    tries: "a chunk that is longer than it says",
    bytes: (to) => post(to, "Transfer-Encoding: chunked\r\n", `1\r\nhello\r\n0\r\n\r\n`),
    statuses: [400],
    isLate: true,
  },
  {
    tries: "trailers that look like headers",
    bytes: (to) =>
      post(
        to,
        "Transfer-Encoding: chunked\r\nTrailer: x-forwarded-for\r\n",
        `5\r\nhello\r\n0\r\nx-forwarded-for: 6.6.6.6\r\nauthorization: Bearer forged\r\n\r\n`,
      ),
    statuses: [400],
    isLate: true,
  },
  {
    tries: "a body of GET that is a request",
    bytes: (to) =>
      `GET /${to.mark} HTTP/1.1\r\nHost: ${to.host}\r\nContent-Length: ${smuggled(to).length}\r\n${close}\r\n${smuggled(to)}`,
    statuses: [200],
  },
  {
    tries: "an upgrade to HTTP/2 that hides a request",
    bytes: (to) =>
      post(
        to,
        "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nContent-Length: 0\r\n",
        "",
      ),
    statuses: [200],
  },
  {
    tries: "an upgrade to WebSocket with a wrong key, and a request behind it",
    bytes: (to) =>
      `GET /${to.mark} HTTP/1.1\r\nHost: ${to.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 99\r\nSec-WebSocket-Key: x\r\n\r\n${smuggled(to)}`,
    statuses: [],
  },
  {
    tries: "a protocol that there is not",
    bytes: (to) => `GET /${to.mark} HTTP/3.0\r\nHost: ${to.host}\r\n\r\n`,
    statuses: [505],
  },
  {
    tries: "no version at all",
    bytes: (to) => `GET /${to.mark}\r\nHost: ${to.host}\r\n\r\n`,
    statuses: [505],
  },
  {
    tries: "CONNECT to another machine",
    bytes: (to) => `CONNECT example.com:443 HTTP/1.1\r\nHost: ${to.host}\r\n${close}\r\n`,
    statuses: [405],
  },
  {
    tries: "a method that nobody knows",
    bytes: (to) => `PROPFIND /${to.mark} HTTP/1.1\r\nHost: ${to.host}\r\n${close}\r\n`,
    statuses: [200],
  },
  {
    tries: "the method TRACE",
    bytes: (to) => `TRACE /${to.mark} HTTP/1.1\r\nHost: ${to.host}\r\n${close}\r\n`,
    statuses: [200],
  },
]
