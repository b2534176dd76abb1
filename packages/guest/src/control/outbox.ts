import { toUserText } from "../errors/stack-text.ts"
import { createSystemTimer, runSoon } from "../internals.ts"
import { limits } from "../limits.ts"
import { bytesSubarray, dateNow, encodeText, jsonStringify } from "../primordials.ts"
import type { ErrorText, LogLevel } from "../protocol.ts"
import type { Run } from "../runs/runs.ts"
import { countBytes, truncateToBytes } from "../values/utf8.ts"
import { addToTail, createTail, takeFromTail } from "./log-tail.ts"

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

/**
 * Sends a line of the run's log. When the log has reached the limit, only its last lines are sent,
 * at intervals and before the run ends: a val may log much faster than the host can read.
 */
export function sendLog(run: Run, level: LogLevel, text: string): void {
  const message = toUserText(text)
  const bytes = countBytes(message)
  const hasRoom = run.tail === undefined && waiting.length + message.length <= limits.outboxCharsMax
  if (hasRoom && run.logBytes + bytes <= logBytesMax) {
    run.logBytes += bytes
    sendLine(run, toLogJson(run, level, message))
    return
  }
  run.tail ??= createTail(logBytesMax)
  const kept = bytes <= logBytesMax ? message : truncateToBytes(message, logBytesMax)
  addToTail(run.tail, toLogJson(run, level, kept), kept === message ? bytes : logBytesMax)
  if (run.tail.isAwaited) return
  run.tail.isAwaited = true
  createSystemTimer(() => sendTail(run), limits.tailMs, false)
}

/** Sends the last lines of a long log that were not sent yet. */
export function sendTail(run: Run): void {
  const { tail } = run
  if (tail === undefined) return
  tail.isAwaited = false
  // The host does not read. The lines wait, and newer ones replace them.
  if (waiting.length > limits.outboxCharsMax) return
  const skipped = tail.skipped
  if (skipped > 0) send(`{"kind":"logs_skipped","run":${quote(run.id)},"lines":${skipped}}`)
  tail.skipped = 0
  for (let json = takeFromTail(tail); json !== undefined; json = takeFromTail(tail))
    sendLine(run, json)
}

function sendLine(run: Run, json: string): void {
  run.logCount += 1
  send(json)
}

function toLogJson(run: Run, level: LogLevel, message: string): string {
  return `{"kind":"log","run":${quote(run.id)},"at":${dateNow()},"level":"${level}","message":${quote(message)}}`
}

/** Sends an uncaught error of the run. */
export function sendUncaught(run: Run, error: ErrorText): void {
  sendTail(run)
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
