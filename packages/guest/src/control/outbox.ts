import { toUserText } from "../errors/stack-text.ts"
import { runSoon } from "../internals.ts"
import { limits } from "../limits.ts"
import { bytesSubarray, dateNow, encodeText, jsonStringify } from "../primordials.ts"
import type { ErrorText, LogLevel } from "../protocol.ts"
import type { Run } from "../runs/runs.ts"
import { countBytes, truncateToBytes } from "../values/utf8.ts"

/** Writes some of the bytes and returns how many. */
export type Write = (bytes: Uint8Array<ArrayBuffer>) => Promise<number>

let write: Write | undefined
let waiting = ""
let isFlushing = false
let logBytesMax = 0

/** Sends all further messages with `through`. Earlier ones are of the warm-up, and are dropped. */
export function openOutbox(through: Write): void {
  waiting = ""
  write = through
}

/** Sets the log limit of a run. */
export function setLogLimit(bytesMax: number): void {
  logBytesMax = bytesMax
}

/**
 * Sends a message, given as JSON. The JSON is assembled by hand: JSON.stringify of an object calls
 * `toJSON`, which a val may have added to every object.
 */
export function send(json: string): void {
  waiting += json
  waiting += "\n"
  if (isFlushing || write === undefined) return
  isFlushing = true
  // Once for all requests that Deno delivers in one turn of its event loop: a write costs more than
  // the rest of a log line.
  runSoon(startFlush)
}

const startFlush = (): void => void flush()

async function flush(): Promise<void> {
  const through = write
  try {
    while (waiting !== "" && through !== undefined) {
      const bytes = encodeText(waiting)
      waiting = ""
      for (let sent = 0; sent < bytes.length; )
        sent += await through(sent === 0 ? bytes : bytesSubarray(bytes, sent))
    }
  } catch {
    // The host has gone; the reader of its messages notices and ends the process.
    write = undefined
  }
  isFlushing = false
}

/** Sends a line of the run's log, or as much of it as the limit allows. */
export function sendLog(run: Run, level: LogLevel, text: string): void {
  if (run.areLogsTruncated) return
  const message = toUserText(text)
  const bytes = countBytes(message)
  const bytesLeft = logBytesMax - run.logBytes
  if (waiting.length + message.length > limits.outboxCharsMax) {
    truncateLogs(run)
    return
  }
  run.logBytes += bytes
  run.logCount += 1
  const kept = bytes <= bytesLeft ? message : truncateToBytes(message, bytesLeft)
  send(
    `{"kind":"log","run":${quote(run.id)},"at":${dateNow()},"level":"${level}","message":${quote(kept)}}`,
  )
  if (bytes > bytesLeft) truncateLogs(run)
}

/** Reports once that the rest of the run's log is lost. */
function truncateLogs(run: Run): void {
  run.areLogsTruncated = true
  send(`{"kind":"logs_cut","run":${quote(run.id)}}`)
}

/** Sends an uncaught error of the run. */
export function sendUncaught(run: Run, error: ErrorText): void {
  send(`{"kind":"uncaught","run":${quote(run.id)},"error":${errorToJson(error)}}`)
}

/** An error as JSON. */
export function errorToJson(error: ErrorText): string {
  const stack = error.stack === undefined ? "" : `,"stack":${quote(error.stack)}`
  return `{"name":${quote(error.name)},"message":${quote(error.message)}${stack}}`
}

/** A string as JSON. */
export function quote(text: string): string {
  return jsonStringify(text) as string
}
