import { readSync, writeSync } from "node:fs"
import { openCLibrary } from "../fairness/c-library.ts"
import { createFrameReader, frameDescriptor, toFrame } from "./frames.ts"

const chunkBytes = 65_536
/** `PR_SET_PDEATHSIG` and `SIGKILL` of Linux. */
const parentDeathSignal = 1
const killSignal = 9

/** What every worker process gets as its argument, as JSON. */
export interface WorkerSettings {
  /** Undefined in a sandbox, which ends with the server by itself and hides its process id. */
  readonly serverPid?: number | undefined
}

/** The argument of this worker process. */
export function readWorkerSettings<Settings extends WorkerSettings>(): Settings {
  return JSON.parse(process.argv[2] ?? "{}") as Settings
}

/**
 * The worker's side of a WorkerProcess: responds to one request after the other, and returns when
 * the server closes the connection. It blocks on its reads and needs no event loop, which gives
 * the shortest response times.
 */
export function serveFrames(
  { serverPid }: WorkerSettings,
  respond: (request: Buffer) => readonly (string | Uint8Array)[],
): void {
  if (serverPid !== undefined) endWithServer(serverPid)
  // An empty frame: ready for requests.
  writeFrame(toFrame())
  const readFrames = createFrameReader()
  const chunk = Buffer.allocUnsafe(chunkBytes)
  for (;;) {
    const bytes = readSync(frameDescriptor, chunk)
    if (bytes === 0) return
    for (const request of readFrames(chunk.subarray(0, bytes)))
      writeFrame(toFrame(...respond(request)))
  }
}

/**
 * Has the kernel kill this process when the server ends, even in the middle of a request that never
 * ends. Where the kernel cannot do that, the limit of its CPU time ends such a process, and every
 * other one notices that its connection is closed.
 */
function endWithServer(serverPid: number): void {
  openCLibrary({ prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } })?.prctl(
    parentDeathSignal,
    killSignal,
    0,
    0,
    0,
  )
  // The server may have ended before the call.
  if (process.ppid !== serverPid) process.exit()
}

function writeFrame(frame: Buffer): void {
  for (let sent = 0; sent < frame.length; ) sent += writeSync(frameDescriptor, frame, sent)
}
