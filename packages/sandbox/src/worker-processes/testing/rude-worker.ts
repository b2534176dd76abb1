// The program of a worker that misbehaves as its requests say.
import { writeSync } from "node:fs"
import { frameDescriptor } from "../frames.ts"
import { serveRequests } from "../serve-requests.ts"

/** What it can do instead of responding. */
const misdeeds = {
  "sends a frame without a message": () => sendFrame(0),
  "sends a frame that is shorter than a message": () => sendFrame(3),
  "sends the beginning of a frame that is too large": () => sendHead(1_000_000),
  ends: () => process.exit(1),
  "never responds": () => {
    for (;;);
  },
}

export type Misdeed = keyof typeof misdeeds

await serveRequests((misdeed: Misdeed | "responds") => {
  if (misdeed !== "responds") misdeeds[misdeed]()
  return [misdeed, Buffer.from("bytes")]
})

function sendFrame(bytes: number): void {
  sendHead(bytes)
  if (bytes > 0) writeSync(frameDescriptor, Buffer.alloc(bytes))
}

function sendHead(bytes: number): void {
  const head = Buffer.alloc(4)
  head.writeUInt32LE(bytes)
  writeSync(frameDescriptor, head)
}
