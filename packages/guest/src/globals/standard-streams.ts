import { sendLog } from "../control/outbox.ts"
import { decodeText, stringEndsWith, stringSlice } from "../primordials.ts"
import type { LogLevel } from "../protocol.ts"
import { currentRun } from "../runs/runs.ts"
import type { NodeProcess } from "./built-ins.ts"

/** Turns writes to standard output and error into log lines, one per write. */
export function captureStandardStreams(): void {
  captureStream(Deno.stdout, "log")
  captureStream(Deno.stderr, "error")
}

/** Does the same with the streams of Node's `process`, when the val uses it. */
export function captureNodeStreams(process: NodeProcess): void {
  captureNodeStream(process.stdout, "log")
  captureNodeStream(process.stderr, "error")
}

const later = queueMicrotask

interface NodeStream {
  write(chunk: unknown, ...rest: unknown[]): boolean
}

function captureStream(stream: typeof Deno.stdout, level: LogLevel): void {
  const writeSync = (bytes: Uint8Array): number => {
    printChunk(level, decodeText(bytes))
    return bytes.length
  }
  Object.defineProperties(stream, {
    writeSync: { value: writeSync },
    write: { value: async (bytes: Uint8Array) => writeSync(bytes) },
    writable: {
      value: new WritableStream<Uint8Array>({ write: (bytes) => void writeSync(bytes) }),
    },
  })
}

function captureNodeStream(nodeStream: NodeStream, level: LogLevel): void {
  nodeStream.write = (chunk, ...rest) => {
    printChunk(level, typeof chunk === "string" ? chunk : decodeText(chunk as Uint8Array))
    const done = rest[rest.length - 1]
    if (typeof done === "function") later(done as () => void)
    return true
  }
}

function printChunk(level: LogLevel, text: string): void {
  const run = currentRun()
  if (run !== undefined)
    sendLog(run, level, stringEndsWith(text, "\n") ? stringSlice(text, 0, -1) : text)
}
