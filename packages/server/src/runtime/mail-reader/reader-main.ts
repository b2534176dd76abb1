// The program of a process that reads messages.
import { serveFrames } from "../worker-processes/serve-frames.ts"
import { findSender } from "./check-sender.ts"
import { assertHeader, assertLines, MessageRefused } from "./message-limits.ts"
import { readMessage } from "./read-message.ts"
import { fromFrame, type ReaderRequest, toParts } from "./reader-messages.ts"

await serveFrames(async (frame) => {
  const { message, bytes } = fromFrame<ReaderRequest>(frame)
  try {
    return await respond(message, bytes)
  } catch (error) {
    if (!(error instanceof MessageRefused)) throw error
    return toParts({ kind: "refused", problem: error.message }, [])
  }
})

async function respond(request: ReaderRequest, bytes: Buffer): Promise<readonly Uint8Array[]> {
  if (request.task === "find_sender") {
    assertLines(bytes)
    assertHeader(bytes)
    return toParts({ kind: "sender", names: await findSender(bytes, request.mailFrom) }, [])
  }
  const { content, ...mail } = await readMessage(bytes, request.origin)
  return toParts({ kind: "mail", mail }, [content])
}
