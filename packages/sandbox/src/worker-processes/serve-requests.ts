import { readSync, writeSync } from "node:fs"
import {
  createFrameReader,
  frameDescriptor,
  readyFrame,
  splitMessage,
  toMessage,
} from "./frames.ts"

const chunkBytes = 65_536

/** A response, and bytes that belong to it. */
type Reply<Response> = readonly [Response, ...Uint8Array[]]

/**
 * The worker's side of a WorkerProcess: responds to one request after the other, and returns when
 * the server closes the connection. It blocks on its reads and needs no event loop, which gives
 * the shortest response times.
 */
export async function serveRequests<Request, Response>(
  respond: (request: Request, bytes: Buffer) => Reply<Response> | Promise<Reply<Response>>,
): Promise<void> {
  writeFrame(readyFrame)
  const readFrames = createFrameReader()
  const chunk = Buffer.allocUnsafe(chunkBytes)
  for (;;) {
    const count = readSync(frameDescriptor, chunk)
    if (count === 0) return
    for (const frame of readFrames(chunk.subarray(0, count))) {
      const { head, bytes } = splitMessage(frame)
      const [response, ...parts] = await respond(JSON.parse(head) as Request, bytes)
      writeFrame(Buffer.concat(toMessage(JSON.stringify(response), parts)))
    }
  }
}

function writeFrame(frame: Buffer): void {
  for (let sent = 0; sent < frame.length; ) sent += writeSync(frameDescriptor, frame, sent)
}
