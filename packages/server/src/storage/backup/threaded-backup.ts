import { Worker } from "node:worker_threads"
import type { ErrorCode } from "@hamlet/contract"
import { AppError } from "../../domain/app-error.ts"
import type { Bucket } from "../blobs/s3-objects.ts"

/** What the thread is told when it starts. */
export interface BackupOrders {
  readonly sqlitePath: string
  /** Instead of the file. */
  readonly databaseUrl: string | undefined
  readonly bucket: Bucket | undefined
  readonly objectBytesMax: number
  readonly ownerFolder: string | undefined
  readonly serverVersion: string
  readonly skipDamaged: boolean
}

/** What the thread says, once each time it is asked. */
export type BackupReply =
  | { readonly kind: "piece"; readonly piece: Uint8Array }
  | { readonly kind: "end" }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string }

const limits = {
  /** How long the thread may take to put everything away. */
  stopMsMax: 5_000,
}

/**
 * The bytes of a backup, made on a thread of its own: one piece is made while the one before is on
 * its way.
 */
export async function* readThreaded(
  orders: BackupOrders,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const thread = new Worker(new URL("./backup-thread.ts", import.meta.url), { workerData: orders })
  const answers = createAnswers(thread)
  // A database or a bucket that has fallen silent is not waited for.
  const onAbort = () => setTimeout(() => answers.fail("it was cut off"), limits.stopMsMax).unref()
  signal.addEventListener("abort", onAbort, { once: true })
  try {
    for (let next = answers.ask("next"); ; ) {
      const answer = await next
      if (answer.kind === "end") return
      if (answer.kind === "failed") throw toError(answer)
      next = answers.ask("next")
      yield answer.piece
    }
  } finally {
    signal.removeEventListener("abort", onAbort)
    await Promise.race([answers.ask("stop"), Bun.sleep(limits.stopMsMax)])
    await thread.terminate()
  }
}

/**
 * Answers come in the order of the questions. After the end of the thread, every answer is that it
 * failed.
 */
function createAnswers(thread: Worker) {
  const waiting: ((answer: BackupReply) => void)[] = []
  let failure: BackupReply | undefined
  const fail = (message: string) => {
    failure ??= { kind: "failed", code: "internal", message }
    for (const resolve of waiting.splice(0)) resolve(failure)
  }
  thread.on("message", (answer: BackupReply) => waiting.shift()?.(answer))
  thread.on("error", (error) => fail(error.stack ?? error.message))
  thread.on("exit", () => fail("the thread of the backup has ended"))
  return {
    fail,
    ask(question: "next" | "stop"): Promise<BackupReply> {
      if (failure) return Promise.resolve(failure)
      return new Promise((resolve) => {
        waiting.push(resolve)
        thread.postMessage(question)
      })
    },
  }
}

/** What nobody expected is a bug: it is logged like any other. */
function toError({ code, message }: Extract<BackupReply, { kind: "failed" }>): Error {
  return code === "internal" ? new Error(message) : new AppError(code, message)
}
