// The program of a process that reads messages.
import { serveRequests } from "@hamlet/sandbox/worker"
import { findSender } from "./check-sender.ts"
import { assertHeader, assertLines, MessageRefused } from "./message-limits.ts"
import { readMessage } from "./read-message.ts"
import type { ReaderRequest, ReaderResponse } from "./reader-messages.ts"

type Reply = readonly [ReaderResponse, ...Uint8Array[]]

await serveRequests(async (request: ReaderRequest, bytes): Promise<Reply> => {
  try {
    return await respond(request, bytes)
  } catch (error) {
    if (!(error instanceof MessageRefused)) throw error
    return [{ kind: "refused", problem: error.message }]
  }
})

async function respond(request: ReaderRequest, bytes: Buffer): Promise<Reply> {
  if (request.task === "find_sender") {
    assertLines(bytes)
    assertHeader(bytes)
    return [{ kind: "sender", names: await findSender(bytes, request.mailFrom) }]
  }
  const { content, ...mail } = await readMessage(bytes, request.origin)
  return [{ kind: "mail", mail }, content]
}
