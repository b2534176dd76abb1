import { toUserText } from "../errors/stack-text.ts"
import { createSystemTimer, type WriteNow } from "../internals.ts"
import { limits } from "../limits.ts"
import { bytesSubarray, dateNow, encodeText, jsonStringify } from "../primordials.ts"
import type { ErrorText, LogLevel } from "../protocol.ts"
import type { Run } from "../runs/runs.ts"
import { countBytes, truncateToBytes } from "../values/utf8.ts"
import { addToTail, createTail, takeFromTail } from "./log-tail.ts"
import type { UnsentFile } from "./unsent-file.ts"

let write: WriteNow | undefined
let unsent: UnsentFile | undefined
let waiting = ""
/** How many messages there were, and how many of them do not wait: the host counts them too. */
let count = 0
let taken = 0
/** Nothing more can be written before the next turn of the event loop, or the host reads. */
let isBlocked = false
let logBytesMax = 0

/** Sends all further messages with `through`. Earlier ones are of the warm-up, and are dropped. */
export function openOutbox(through: WriteNow, unsentFile: UnsentFile): void {
  waiting = ""
  count = 0
  taken = 0
  write = through
  unsent = unsentFile
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
  count += 1
  waiting += json
  waiting += "\n"
  if (isBlocked) unsent?.add(`${json}\n`)
  else flush()
}

/** At once, because the val may not return to the event loop. */
function flush(): void {
  while (waiting !== "" && write !== undefined) {
    const lines = waiting
    const bytes = encodeText(lines)
    const firstNumber = taken + 1
    waiting = ""
    taken = count
    const sent = write(bytes)
    if (sent === bytes.length) continue
    isBlocked = true
    unsent?.begin(firstNumber, lines)
    void finish(bytes, sent)
    return
  }
}

/** Writes the rest when the host reads again, and then what has waited meanwhile. */
async function finish(bytes: Uint8Array<ArrayBuffer>, first: number | Promise<number>) {
  try {
    let sent = await first
    while (sent < bytes.length && write !== undefined)
      sent += await write(bytesSubarray(bytes, sent))
  } catch {
    // The host has gone; the reader of its messages notices and ends the process.
    write = undefined
  }
  isBlocked = false
  flush()
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
