import type { OutgoingMessage } from "../../domain/emails/deliver-email.ts"
import { WorkerPool } from "../../shared/threads/worker-pool.ts"
import { type CompiledMessage, compileMessage, type MessageIdentity } from "./compile-message.ts"

const limits = {
  /** A message with content up to this size is written on the main thread, in about a millisecond. */
  inlineBytesMax: 65_536,
  workersMax: 2,
  /** More than are sent at the same time. */
  waitingMax: 64,
  compileMsMax: 60_000,
}

/** Writes messages; large ones on threads, because 20 MB take a fifth of a second. */
export class MessageCompiler {
  readonly #identity: MessageIdentity
  readonly #pool: WorkerPool<OutgoingMessage, CompiledMessage>

  constructor(identity: MessageIdentity) {
    this.#identity = identity
    this.#pool = new WorkerPool({
      script: new URL("./compile-thread.ts", import.meta.url),
      workerData: identity,
      workersMax: limits.workersMax,
      waitingMax: limits.waitingMax,
      jobMsMax: limits.compileMsMax,
    })
  }

  /** Rejects with a WorkerPoolError if no thread can do it, and with another error otherwise. */
  compile(message: OutgoingMessage): Promise<CompiledMessage> {
    return message.content.length <= limits.inlineBytesMax
      ? compileMessage(this.#identity, message)
      : this.#pool.run("", message)
  }

  stop(): Promise<void> {
    return this.#pool.stop()
  }
}
