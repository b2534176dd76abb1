/** Bytes that a client sends to the egress socket of a sandbox. */
export interface EgressRequest {
  readonly tries: string
  /**
   * What is sent. `up` is the host that may be reached, `bad` one that may not, `mark` tells this
   * request from all others.
   */
  readonly bytes: (hosts: {
    readonly up: string
    readonly bad: string
    readonly mark: string
  }) => string
  /** What the host gets to see that may be reached: at most one request. */
  readonly passes?: true
}

const get = (target: string, headers = "") =>
  `GET ${target} HTTP/1.1\r\nhost: x.test\r\nconnection: close\r\n${headers}\r\n`
const post = (target: string, headers: string, body: string) =>
  `POST ${target} HTTP/1.1\r\nhost: x.test\r\nconnection: close\r\n${headers}\r\n${body}`
/**
 * What a server would take for a request of its own if it were wrong about where the first one
 * ends.
 */
const smuggled = (host: string) => `GET http://${host}/smuggled HTTP/1.1\r\nhost: ${host}\r\n\r\n`

const targets: readonly EgressRequest[] = [
  {
    tries: "another host in Host than in its address",
    bytes: ({ up, bad, mark }) =>
      `GET http://${up}/${mark} HTTP/1.1\r\nhost: ${bad}\r\nconnection: close\r\n\r\n`,
    passes: true,
  },
  {
    tries: "a good Host and a forbidden address",
    bytes: ({ up, bad, mark }) =>
      `GET http://${bad}/${mark} HTTP/1.1\r\nhost: ${up}\r\nconnection: close\r\n\r\n`,
  },
  {
    tries: "two hosts",
    bytes: ({ up, bad, mark }) => get(`http://${up}/${mark}`, `host: ${bad}\r\n`),
    passes: true,
  },
  {
    tries: "no host",
    bytes: ({ up, mark }) => `GET http://${up}/${mark} HTTP/1.1\r\nconnection: close\r\n\r\n`,
    passes: true,
  },
  {
    tries: "a path without a host",
    bytes: ({ up, mark }) => `GET /${mark} HTTP/1.1\r\nhost: ${up}\r\nconnection: close\r\n\r\n`,
  },
  {
    tries: "a path that begins with two slashes",
    bytes: ({ up, mark }) =>
      `GET //${up}/${mark} HTTP/1.1\r\nhost: ${up}\r\nconnection: close\r\n\r\n`,
  },
  {
    tries: "a tunnel by CONNECT",
    bytes: ({ up }) => `CONNECT ${up} HTTP/1.1\r\nhost: ${up}\r\n\r\n${smuggled(up)}`,
  },
  {
    tries: "a tunnel by CONNECT to a forbidden host",
    bytes: ({ bad }) => `CONNECT ${bad} HTTP/1.1\r\nhost: ${bad}\r\n\r\n${smuggled(bad)}`,
  },
  {
    tries: "a tunnel by CONNECT to a whole address",
    bytes: ({ bad }) =>
      `CONNECT http://${bad}/ HTTP/1.1\r\nhost: ${bad}\r\nconnection: close\r\n\r\n`,
  },
  {
    tries: "a tunnel by CONNECT to a whole address that may be reached",
    bytes: ({ up, mark }) =>
      `CONNECT http://${up}/${mark} HTTP/1.1\r\nhost: ${up}\r\nconnection: close\r\n\r\n`,
  },
  {
    tries: "OPTIONS of everything",
    bytes: ({ up }) => `OPTIONS * HTTP/1.1\r\nhost: ${up}\r\nconnection: close\r\n\r\n`,
  },
  {
    tries: "a user name before a forbidden host",
    bytes: ({ up, bad, mark }) => get(`http://${up}@${bad}/${mark}`),
  },
  {
    tries: "a user name before a good host",
    bytes: ({ up, bad, mark }) => get(`http://${bad}@${up}/${mark}`),
  },
  {
    tries: "a backslash behind a forbidden host",
    bytes: ({ up, bad, mark }) => get(`http://${bad}\\@${up}/${mark}`),
  },
  {
    tries: "a fragment behind a forbidden host",
    bytes: ({ up, bad, mark }) => get(`http://${bad}#@${up}/${mark}`),
  },
  {
    tries: "a space in its address",
    bytes: ({ up, bad, mark }) => get(`http://${up}/${mark} http://${bad}/`),
  },
  { tries: "a tab in its address", bytes: ({ up, mark }) => get(`http://${up}/\t${mark}`) },
  { tries: "a NUL in its address", bytes: ({ up, mark }) => get(`http://${up}/\0${mark}`) },
  {
    tries: "bytes above ASCII in its address",
    bytes: ({ mark }) => get(`http://127\xe3\x80\x820\xe3\x80\x820\xe3\x80\x821/${mark}`),
  },
  ...["ftp", "file", "ws", "unix", "gopher", "javascript", ""].map(
    (scheme): EgressRequest => ({
      tries: `the scheme "${scheme}:"`,
      bytes: ({ up, mark }) => get(`${scheme}://${up}/${mark}`),
    }),
  ),
  { tries: "a port that is none", bytes: ({ mark }) => get(`http://localhost:99999/${mark}`) },
  { tries: "HTTP/1.0", bytes: ({ up, mark }) => `GET http://${up}/${mark} HTTP/1.0\r\n\r\n` },
  { tries: "HTTP/0.9", bytes: ({ up, mark }) => `GET http://${up}/${mark}\r\n\r\n` },
  { tries: "HTTP/2", bytes: () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
  {
    tries: "a greeting of TLS",
    bytes: () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
  },
  { tries: "SOCKS", bytes: () => "\x05\x01\x00\r\n\r\n" },
  {
    tries: "a method with a space",
    bytes: ({ up, mark }) => `GET POST http://${up}/${mark} HTTP/1.1\r\n\r\n`,
  },
  {
    tries: "an empty line before it",
    bytes: ({ up, mark }) => `\r\n${get(`http://${up}/${mark}`)}`,
  },
]

const headers: readonly EgressRequest[] = [
  ...Object.entries({
    "a header that goes on in the next line": "x: a\r\n b: c\r\n",
    "a header without a colon": "nothing\r\n",
    "a header without a name": ": x\r\n",
    "a space before the colon": "x : y\r\n",
    "a line break of one character": "x: y\nhost: forged\r\n",
    "a carriage return alone": "x: y\rhost: forged\r\n",
    "a NUL in a header": "x: y\0z\r\n",
    "a name that is not one": "x(y): z\r\n",
  }).map(
    ([tries, lines]): EgressRequest => ({
      tries,
      bytes: ({ up, mark }) => get(`http://${up}/${mark}`, lines),
    }),
  ),
  {
    tries: "lines that end with one character",
    bytes: ({ up, mark }) => `GET http://${up}/${mark} HTTP/1.1\nhost: ${up}\n\n\r\n\r\n`,
  },
  {
    tries: "a head of 100 KB",
    bytes: ({ up, mark }) => get(`http://${up}/${mark}`, `x: ${"y".repeat(100_000)}\r\n`),
  },
  {
    tries: "10,000 headers",
    bytes: ({ up, mark }) => get(`http://${up}/${mark}`, "x: yyyyy\r\n".repeat(10_000)),
  },
  {
    tries: "an address of 100 KB",
    bytes: ({ up, mark }) => get(`http://${up}/${mark}${"y".repeat(100_000)}`),
  },
  {
    tries: "headers that only the server may write",
    bytes: ({ up, mark }) =>
      get(
        `http://${up}/${mark}`,
        "X-Hamlet-Depth: -1\r\nx-HAMLET-run: nobody nothing\r\nx-hamlet-blocked: 1\r\nx-hamlet-: x\r\n",
      ),
    passes: true,
  },
  {
    tries: "headers that are between neighbours",
    bytes: ({ up, mark }) =>
      get(
        `http://${up}/${mark}`,
        "Connection: x-secret\r\nx-secret: 1\r\nkeep-alive: timeout=9\r\nte: trailers\r\ntrailer: x\r\nproxy-connection: x\r\nproxy-authorization: Basic eDp4\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nexpect: 100-continue\r\n",
      ),
    passes: true,
  },
]

const chunked = "transfer-encoding: chunked\r\n"
const lengths: readonly EgressRequest[] = [
  ...Object.entries({
    "a length and chunks": `content-length: 5\r\n${chunked}`,
    "chunks and a length": `${chunked}content-length: 5\r\n`,
    "two lengths": "content-length: 5\r\ncontent-length: 50\r\n",
    "two lengths in one line": "content-length: 5, 50\r\n",
    "the same length twice": "content-length: 5\r\ncontent-length: 5\r\n",
    "a length with a sign": "content-length: +5\r\n",
    "a negative length": "content-length: -5\r\n",
    "a length in hexadecimal": "content-length: 0x5\r\n",
    "a length that no number holds": "content-length: 99999999999999999999\r\n",
    "a length that is empty": "content-length:\r\n",
    "a length with a space before the colon": "content-length : 5\r\n",
    "chunks twice": chunked.repeat(2),
    "chunks under another name": "transfer-encoding: xchunked\r\n",
    "chunks and identity": "transfer-encoding: chunked, identity\r\n",
    "identity and chunks": "transfer-encoding: identity\r\ntransfer-encoding: chunked\r\n",
    "chunks in quotes": 'transfer-encoding: "chunked"\r\n',
    "chunks behind a vertical tab": "transfer-encoding:\x0bchunked\r\n",
    "chunks behind a line that goes on": "transfer-encoding:\r\n chunked\r\n",
    "chunks that are compressed": "transfer-encoding: gzip, chunked\r\n",
  }).map(
    ([tries, lines]): EgressRequest => ({
      tries: `to say how long its body is with ${tries}`,
      bytes: ({ up, mark }) => post(`http://${up}/${mark}`, lines, `0\r\n\r\n${smuggled(up)}`),
    }),
  ),
  ...Object.entries({
    "a length with a prefix": "0x5\r\nhello\r\n0\r\n\r\n",
    "a negative length": "-5\r\nhello\r\n0\r\n\r\n",
    "a length that overflows": "ffffffffffffffff5\r\nhello\r\n0\r\n\r\n",
    "no length": "\r\nhello\r\n0\r\n\r\n",
    "a length that is too small": "3\r\nhello\r\n0\r\n\r\n",
    "a line break of one character": "5\nhello\n0\n\n",
    "an extension without an end": `5;${"x".repeat(10_000)}\r\nhello\r\n0\r\n\r\n`,
    "an extension with a line break": '5;x="\n"\r\nhello\r\n0\r\n\r\n',
    "a trailer without an end": `5\r\nhello\r\n0\r\n${"x: y\r\n".repeat(10_000)}`,
  }).map(
    ([tries, body]): EgressRequest => ({
      tries: `a chunk with ${tries}`,
      bytes: ({ up, mark }) => post(`http://${up}/${mark}`, chunked, `${body}${smuggled(up)}`),
    }),
  ),
  {
    tries: "headers behind its last chunk",
    bytes: ({ up, bad, mark }) =>
      post(
        `http://${up}/${mark}`,
        chunked,
        `5\r\nhello\r\n0\r\nhost: ${bad}\r\ncontent-length: 50\r\n\r\n`,
      ),
    passes: true,
  },
  {
    tries: "a second request behind the first",
    bytes: ({ up, mark }) => get(`http://${up}/${mark}`) + smuggled(up),
  },
  {
    tries: "a second request behind a body",
    bytes: ({ up, mark }) =>
      post(`http://${up}/${mark}`, "content-length: 5\r\n", `hello${smuggled(up)}`),
  },
  {
    tries: "a body in a GET that looks like a request",
    bytes: ({ up, mark }) =>
      get(`http://${up}/${mark}`, `content-length: ${smuggled(up).length}\r\n`) + smuggled(up),
    passes: true,
  },
  {
    tries: "a WebSocket with a body",
    bytes: ({ up, mark }) =>
      get(
        `http://${up}/${mark}`,
        `upgrade: websocket\r\nconnection: upgrade\r\ncontent-length: ${smuggled(up).length}\r\n`,
      ) + smuggled(up),
    passes: true,
  },
  {
    tries: "to go on when a WebSocket was refused",
    bytes: ({ up, mark }) =>
      get(`http://${up}/${mark}`, "upgrade: websocket\r\nconnection: upgrade\r\n") + smuggled(up),
  },
]

export const egressRequests: readonly EgressRequest[] = [...targets, ...headers, ...lengths]
