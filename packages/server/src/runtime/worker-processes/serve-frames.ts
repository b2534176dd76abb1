import { readSync, writeSync } from "node:fs"
import { createFrameReader, frameDescriptor, toFrame } from "./frames.ts"

const chunkBytes = 65_536

/** The parts of a response. */
type Response = readonly (string | Uint8Array)[]

/**
 * The worker's side of a WorkerProcess: responds to one request after the other, and returns when
 * the server closes the connection. It blocks on its reads and needs no event loop, which gives
 * the shortest response times.
 */
export async function serveFrames(
  respond: (request: Buffer) => Response | Promise<Response>,
): Promise<void> {
  // An empty frame: ready for requests.
  writeFrame(toFrame())
  const readFrames = createFrameReader()
  const chunk = Buffer.allocUnsafe(chunkBytes)
  for (;;) {
    const bytes = readSync(frameDescriptor, chunk)
    if (bytes === 0) return
    for (const request of readFrames(chunk.subarray(0, bytes)))
      writeFrame(toFrame(...(await respond(request))))
  }
}

function writeFrame(frame: Buffer): void {
  for (let sent = 0; sent < frame.length; ) sent += writeSync(frameDescriptor, frame, sent)
}
