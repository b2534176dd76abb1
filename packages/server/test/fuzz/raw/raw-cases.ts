import type { CloseMode } from "./raw-client.ts"

/** What only raw bytes can say, and how it is answered. */
export interface RawCase {
  readonly title: string
  readonly bytes: string
  /** The statuses that the answer may have; none where the connection may just be closed. */
  readonly statuses?: readonly number[]
  /**
   * The statuses of several answers; Bun closes the connection when a request comes before the one
   * before it is answered.
   */
  readonly row?: readonly number[]
  readonly leaving?: CloseMode
}

const close = "Connection: close\r\n"
const chunked = "Transfer-Encoding: chunked\r\n"
const body = '{"code":"x"}'
const chunkedBody = `c\r\n${body}\r\n0\r\n\r\n`

/** A placeholder for the sender's token, with the length of a token. */
export const tokenMark = "T".repeat(56)

const user = `Host: hamlet.test\r\nAuthorization: Bearer ${tokenMark}\r\n`
const large = `186a0\r\n${"x".repeat(100_000)}\r\n`.repeat(30)

function get(target: string, more = ""): string {
  return `GET ${target} HTTP/1.1\r\n${user}${more}${close}\r\n`
}

function post(more: string, rest: string): string {
  return `POST /v1/vals HTTP/1.1\r\n${user}${more}${close}\r\n${rest}`
}

/**
 * Requests that are broken below HTTP's words, or hardly. 505 is what Bun says of a request line
 * that it cannot read.
 */
export const rawCases: readonly RawCase[] = [
  // The request line.
  {
    title: "a TLS greeting",
    bytes: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    statuses: [400],
  },
  { title: "an HTTP/2 greeting", bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", statuses: [400, 505] },
  {
    title: "a version that does not exist",
    bytes: `GET /healthz HTTP/9.9\r\n${user}\r\n`,
    statuses: [400, 505],
  },
  { title: "HTTP/1.0 without a host", bytes: "GET /healthz HTTP/1.0\r\n\r\n", statuses: [200] },
  {
    title: "HTTP/1.1 without a host",
    bytes: `GET /healthz HTTP/1.1\r\n${close}\r\n`,
    statuses: [400],
  },
  { title: "a method that nobody knows", bytes: get("/healthz").replace("GET", "FROBNICATE") },
  { title: "a method in lower case", bytes: get("/healthz").replace("GET", "get") },
  {
    title: "CONNECT",
    bytes: get("hamlet.test:443").replace("GET", "CONNECT"),
    statuses: [400, 404, 405],
  },
  { title: "OPTIONS *", bytes: get("*").replace("GET", "OPTIONS"), statuses: [204, 400] },
  { title: "no path", bytes: get(""), statuses: [400] },
  { title: "a path without a slash", bytes: get("healthz"), statuses: [400] },
  { title: "a whole address", bytes: get("http://evil.test/healthz"), statuses: [200] },
  { title: "two slashes", bytes: get("//evil.test/v1/me"), statuses: [404] },
  { title: "a path with .. above the root", bytes: get("/v1/../../../healthz"), statuses: [200] },
  { title: "bytes that are no UTF-8", bytes: get("/v1/alias/\xff\xfe"), statuses: [400, 404] },
  { title: "NUL in the path", bytes: get("/v1/alias/a\0b"), statuses: [400, 505] },
  { title: "spaces in the path", bytes: get("/v1/alias/a b"), statuses: [400, 505] },
  {
    title: "line feeds alone",
    bytes: get("/healthz").replaceAll("\r", ""),
    statuses: [200, 400, 505],
  },
  // The headers.
  ...[
    "[::",
    "a b",
    "",
    "a/b",
    "a@b",
    "\xff",
    "x:99999",
    "a?b",
    "%",
    "a:b:c",
    "..",
    "evil.test",
  ].map((host) => ({
    title: `host "${host}"`,
    bytes: `GET /v1/vals HTTP/1.1\r\nHost: ${host}\r\n${close}\r\n`,
    statuses: [200, 400],
  })),
  { title: "two hosts", bytes: get("/healthz", "Host: evil.test\r\n"), statuses: [400] },
  {
    title: "the same host twice",
    bytes: get("/healthz", "Host: hamlet.test\r\n"),
    statuses: [400],
  },
  {
    title: "two hosts of a preflight",
    bytes: get("/v1/me", "Host: evil.test\r\n").replace("GET", "OPTIONS"),
    statuses: [400],
  },
  {
    title: "two empty hosts",
    bytes: `GET /healthz HTTP/1.1\r\nHost:\r\nHost:\r\n${close}\r\n`,
    statuses: [400],
  },
  {
    title: "10,000 headers",
    bytes: get("/healthz", "x-flood: y\r\n".repeat(10_000)),
    statuses: [431],
  },
  {
    title: "500 headers",
    bytes: get("/healthz", "x: y\r\n".repeat(500)),
    statuses: [200, 400, 431],
  },
  {
    title: "a header of a megabyte",
    bytes: get("/healthz", `x-long: ${"y".repeat(1_000_000)}\r\n`),
    statuses: [431],
  },
  {
    title: "an address of 100,000 characters",
    bytes: get(`/v1/search/vals?query=${"y".repeat(100_000)}`),
    statuses: [414, 431],
  },
  {
    title: "an address of 14,000 characters",
    bytes: get(`/v1/search/vals?query=${"y".repeat(14_000)}`),
    statuses: [400],
  },
  { title: "a header name with a space", bytes: get("/healthz", "a b: c\r\n"), statuses: [400] },
  { title: "NUL in a header", bytes: get("/healthz", "a: b\0c\r\n"), statuses: [400] },
  { title: "a folded header", bytes: get("/healthz", "a: b\r\n c\r\n"), statuses: [400] },
  { title: "a header without a colon", bytes: get("/healthz", "abc\r\n"), statuses: [400] },
  {
    title: "an upgrade to WebSocket",
    bytes: get(
      "/healthz",
      "Upgrade: websocket\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n",
    ),
    statuses: [200, 400],
  },
  {
    title: "an upgrade to HTTP/2",
    bytes: get("/healthz", "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"),
    statuses: [200],
  },
  // The length of the body.
  ...["-1", "abc", "1e1", "99999999999999999999", "12, 12", "+12", "0x0c", " "].map((length) => ({
    title: `content-length "${length}"`,
    bytes: post(`Content-Length: ${length}\r\n`, body),
    statuses: [400],
  })),
  {
    title: "two lengths",
    bytes: post("Content-Length: 2\r\nContent-Length: 12\r\n", body),
    statuses: [400],
  },
  {
    title: "a length and chunks",
    bytes: post(`Content-Length: 12\r\n${chunked}`, chunkedBody),
    statuses: [400],
  },
  {
    title: "an unknown transfer coding",
    bytes: post("Transfer-Encoding: gzip\r\n", body),
    statuses: [400],
  },
  {
    title: "a length that is too short",
    bytes: post("Content-Length: 5\r\n", body),
    statuses: [400],
  },
  {
    title: "a length over the limit and nothing after it",
    bytes: post("Content-Length: 3000000\r\n", ""),
    statuses: [413],
  },
  {
    title: "a length of 2 GB",
    bytes: post("Content-Length: 2000000000\r\n", "x"),
    statuses: [413],
  },
  {
    title: "3 MB with a length",
    bytes: post("Content-Length: 3000000\r\n", "x".repeat(3_000_000)),
    statuses: [413],
  },
  { title: "3 MB in chunks", bytes: post(chunked, `${large}0\r\n\r\n`), statuses: [413] },
  {
    title: "a body of GET",
    bytes: `${get("/v1/vals", "Content-Length: 5\r\n")}hello`,
    statuses: [200],
  },
  {
    title: "expect 100-continue",
    bytes: post("Expect: 100-continue\r\nContent-Length: 12\r\n", body),
    statuses: [200],
  },
  // Chunks.
  { title: "a chunk", bytes: post(chunked, chunkedBody), statuses: [200] },
  {
    title: "a chunk for every byte",
    bytes: post(chunked, `${[...body].map((letter) => `1\r\n${letter}\r\n`).join("")}0\r\n\r\n`),
    statuses: [200],
  },
  ...["zz", "-c", "0xc", "ffffffffffffffffff", "5", ""].map((size) => ({
    title: `a chunk of size "${size}"`,
    bytes: post(chunked, `${size}\r\n${body}\r\n0\r\n\r\n`),
    statuses: [400],
  })),
  // Requests that end too early.
  ...(["end", "cut"] as const).flatMap((leaving) => [
    { title: `half a header (${leaving})`, bytes: get("/healthz").slice(0, 40), leaving },
    {
      title: `half a body (${leaving})`,
      bytes: post("Content-Length: 12\r\n", body.slice(0, 6)),
      leaving,
    },
    {
      title: `half a chunk (${leaving})`,
      bytes: post(chunked, `c\r\n${body.slice(0, 6)}`),
      leaving,
    },
    {
      title: `chunks without an end (${leaving})`,
      bytes: post(chunked, `c\r\n${body}\r\n`),
      leaving,
    },
    { title: `a single space (${leaving})`, bytes: " ", leaving },
  ]),
  // Several requests at once.
  {
    title: "three requests in one go",
    bytes: `GET /healthz HTTP/1.1\r\n${user}\r\nGET /v1/me HTTP/1.1\r\n${user}\r\n${get("/nowhere")}`,
    row: [200, 200, 404],
  },
  {
    title: "a request after one that was too large",
    bytes: `POST /v1/vals HTTP/1.1\r\n${user}${chunked}\r\n${large}0\r\n\r\n${get("/healthz")}`,
    row: [413, 200],
  },
  {
    title: "rubbish after a request",
    bytes: `${get("/healthz").replace(close, "")}rubbish\r\n\r\n`,
    row: [200, 400],
  },
]
