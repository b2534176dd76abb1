import { workerData } from "node:worker_threads"
import { serveJobs } from "@hamlet/kit"
import type { OutgoingMessage } from "../../domain/mail/outbound/deliver-email.ts"
import { type CompiledMessage, compileMessage, type MessageIdentity } from "./compile-message.ts"

serveJobs<OutgoingMessage, CompiledMessage>(async (message) => {
  const { bytes, sender } = await compileMessage(workerData as MessageIdentity, message)
  // In a buffer of its own, which can be handed over.
  const own = new Uint8Array(bytes)
  return { result: { bytes: own, sender }, transfer: [own.buffer] }
})
