/** Bytes that a val writes to the control socket of its own process. */
export interface Forgery {
  readonly tries: string
  /**
   * An expression that evaluates to text or bytes; `victim` is an active run of another user, `own`
   * a run of the val itself.
   */
  readonly bytes: string
  /**
   * What the val's run ends with when the host does not put up with it, as `status name: message`.
   */
  readonly ends?: RegExp
}

const noMessage = /^crashed \w+: .*sent an invalid control message/
const log = (fields: string) =>
  `JSON.stringify({ kind: "log", run: victim, at: 1, level: "error", message: "FORGED", ${fields} }) + "\\n"`

/** Well-formed messages about other runs or about none: the host ignores them. */
export const ignoredForgeries: readonly Forgery[] = [
  { tries: "to log for a run that does not exist", bytes: log(`run: crypto.randomUUID()`) },
  { tries: "to log for a run of a neighbour", bytes: log("") },
  { tries: "to log a thousand lines for a run of a neighbour", bytes: `(${log("")}).repeat(1000)` },
  {
    tries: "to fail a run of a neighbour",
    bytes: `JSON.stringify({ kind: "uncaught", run: victim, error: { name: "Error", message: "FORGED" } }) + "\\n"`,
  },
  {
    tries: "to cut the logs of a neighbour",
    bytes: `JSON.stringify({ kind: "logs_skipped", run: victim, lines: 5 }) + "\\n"`,
  },
  {
    tries: "to refuse a WebSocket of a neighbour",
    bytes: `JSON.stringify({ kind: "refused", run: victim, status: 200, headers: [["x-forged", "1"]], body: "Rk9SR0VE" }) + "\\n"`,
  },
  {
    tries: "to say that it was loaded a second time",
    bytes: `'{"kind":"loaded","isCallable":false}\\n'`,
  },
  {
    tries: "to say that it failed to load after it was loaded",
    bytes: `'{"kind":"load_failed","error":{"name":"Error","message":"FORGED"}}\\n'`,
  },
  { tries: "to say a thousand times that it is warm", bytes: `'{"kind":"warm"}\\n'.repeat(1000)` },
  { tries: "to answer pings that nobody sent", bytes: `'{"kind":"pong"}\\n'.repeat(1000)` },
  {
    tries: "to flood the host with more lines than it may say in a second",
    bytes: `(${log("")}).repeat(15_000)`,
  },
  { tries: "to log for a run called __proto__", bytes: log(`run: "__proto__"`) },
  { tries: "to log for a run called constructor", bytes: log(`run: "constructor"`) },
  {
    tries: "to pollute the host's prototypes with a message",
    bytes: `'{"kind":"log","run":"' + victim + '","at":1,"level":"log","message":"FORGED","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}\\n'`,
  },
  {
    tries: "to pollute the host's prototypes with an error",
    bytes: `'{"kind":"uncaught","run":"' + victim + '","error":{"name":"a","message":"b","__proto__":{"polluted":true}}}\\n'`,
  },
  {
    tries: "to say something that has much more in it than it should",
    bytes: `JSON.stringify({ kind: "pong", run: victim, accountId: "x", env: { a: "x".repeat(100_000) } }) + "\\n"`,
  },
]

/** What no guest would ever write: the process is ended, and with it only its own runs. */
export const refusedForgeries: readonly Forgery[] = [
  { tries: "to write rubbish", bytes: `"rubbish\\n"`, ends: noMessage },
  {
    tries: "to write random bytes",
    bytes: `new Uint8Array([...crypto.getRandomValues(new Uint8Array(4096)), 10])`,
    ends: noMessage,
  },
  {
    tries: "to write zeros",
    bytes: `new Uint8Array([...new Uint8Array(4096), 10])`,
    ends: noMessage,
  },
  {
    tries: "to write text that is no UTF-8 for a kind",
    bytes: `new Uint8Array([123, 34, 107, 105, 110, 100, 34, 58, 34, 255, 254, 34, 125, 10])`,
    ends: noMessage,
  },
  { tries: "to write an empty line", bytes: `"\\n"`, ends: noMessage },
  { tries: "to write null", bytes: `"null\\n"`, ends: noMessage },
  { tries: "to write a number", bytes: `"1e999\\n"`, ends: noMessage },
  { tries: "to write an array", bytes: `"[]\\n"`, ends: noMessage },
  {
    tries: "to write a message of an unknown kind",
    bytes: `'{"kind":"grant","permission":"all"}\\n'`,
    ends: noMessage,
  },
  {
    tries: "to send the host what only the host may send",
    bytes: `'{"kind":"load","url":"http://evil.test/","env":{}}\\n'`,
    ends: noMessage,
  },
  {
    tries: "to write a kind that is an object",
    bytes: `'{"kind":{"toString":"log"}}\\n'`,
    ends: noMessage,
  },
  { tries: "to write the kind __proto__", bytes: `'{"kind":"__proto__"}\\n'`, ends: noMessage },
  {
    tries: "to log at a time that no date can be",
    bytes: log(`run: own, at: 1e300`),
    ends: noMessage,
  },
  {
    tries: "to log at a time that is infinite",
    bytes: `'{"kind":"log","run":"' + own + '","at":1e999,"level":"log","message":"x"}\\n'`,
    ends: noMessage,
  },
  { tries: "to log at a time that is text", bytes: log(`run: own, at: "now"`), ends: noMessage },
  {
    tries: "to log at a level that there is not",
    bytes: log(`run: own, level: "fatal"`),
    ends: noMessage,
  },
  {
    tries: "to log something that is no text",
    bytes: log(`run: own, message: { toString: 1 }`),
    ends: noMessage,
  },
  { tries: "to log for a run that is an array", bytes: log(`run: [own]`), ends: noMessage },
  {
    tries: "to fail with an error that is null",
    bytes: `'{"kind":"uncaught","run":"' + own + '","error":null}\\n'`,
    ends: noMessage,
  },
  {
    tries: "to fail with a stack that is a number",
    bytes: `'{"kind":"uncaught","run":"' + own + '","error":{"name":"a","message":"b","stack":1}}\\n'`,
    ends: noMessage,
  },
  {
    tries: "to refuse with a status that there is not",
    bytes: `'{"kind":"refused","run":"' + own + '","status":1000,"headers":[],"body":""}\\n'`,
    ends: noMessage,
  },
  {
    tries: "to refuse with headers that are none",
    bytes: `'{"kind":"refused","run":"' + own + '","status":200,"headers":[["a"]],"body":""}\\n'`,
    ends: noMessage,
  },
  {
    tries: "to write JSON that is nested a hundred thousand times",
    bytes: `"[".repeat(100_000) + "]".repeat(100_000) + "\\n"`,
    ends: noMessage,
  },
  {
    tries: "to write an object that is nested a hundred thousand times",
    bytes: `'{"kind":'.repeat(100_000) + "1" + "}".repeat(100_000) + "\\n"`,
    ends: noMessage,
  },
  {
    tries: "to write a line of 64 MB",
    bytes: `new Uint8Array(64 * 1024 ** 2).fill(97)`,
    ends: /^crashed \w+: .*control message of more than \d+ bytes/,
  },
  {
    tries: "to write a line that never ends, bit by bit",
    bytes: `"x".repeat(3 * 1024 ** 2)`,
    ends: /^crashed \w+: .*control message of more than \d+ bytes/,
  },
  {
    tries: "to flood the host with messages that say nothing",
    // Without an end: however slow the machine is, it is more than a guest has to say.
    bytes: `((part) => ({ length: Infinity, subarray: (from) => part.subarray(from % part.length) }))(new TextEncoder().encode('{"kind":"pong"}\\n'.repeat(4096)))`,
    ends: /^crashed \w+: .*sent \d+ control messages without effect/,
  },
]
