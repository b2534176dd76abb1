import { Worker } from "node:worker_threads"
import type { ErrorCode } from "@hamlet/contract"
import type { Database } from "@hamlet/database"
import { Loop } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import type { BackupSource } from "../../domain/backups.ts"
import { holdObjects } from "../blobs/objects.ts"
import type { Bucket } from "../blobs/s3-objects.ts"
import type { DatabaseHome } from "./owner-databases/owner-database-source.ts"
import { readAhead } from "./spool.ts"

/** The data that the thread starts with. */
export interface BackupThreadOptions {
  readonly sqlitePath: string
  /** Used instead of the SQLite file where it is set. */
  readonly databaseUrl: string | undefined
  readonly bucket: Bucket | undefined
  readonly objectBytesMax: number
  readonly ownerDatabases: DatabaseHome
  readonly dataDir: string
  readonly serverVersion: string
  readonly skipDamaged: boolean
}

/** The replies of the thread, one for each message. */
export type BackupReply =
  | { readonly kind: "piece"; readonly piece: Uint8Array }
  | { readonly kind: "end" }
  | { readonly kind: "failed"; readonly code: ErrorCode; readonly message: string }

const limits = {
  /** How often the protection of objects is renewed. */
  renewMs: 60_000,
  /** How long each renewal lasts. */
  holdMs: 300_000,
  /** How long the thread may take to clean up. */
  stopMsMax: 5_000,
}

/** Backups of the database, the bucket and the databases of users. */
export function createBackupSource(
  db: Database,
  options: Omit<BackupThreadOptions, "skipDamaged">,
): BackupSource {
  return {
    async *read({ skipDamaged }, signal) {
      // A bucket is not part of any transaction: before the snapshot is taken, all nodes learn
      // not to delete its objects.
      const hold = () => holdObjects(db, limits.holdMs)
      if (options.bucket) await hold()
      // A renewal may fail: the one before lasts longer than the time until the next.
      const renewal = new Loop({ round: hold, pollMs: limits.renewMs, onError() {} })
      if (options.bucket) renewal.start(limits.renewMs)
      try {
        yield* readAhead(readThreaded({ ...options, skipDamaged }, signal), {
          folder: options.dataDir,
        })
      } finally {
        await renewal.stop()
      }
    },
  }
}

/**
 * The bytes of a backup, produced on a thread of its own: the next piece is produced while the
 * previous one is being sent.
 */
async function* readThreaded(
  options: BackupThreadOptions,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const thread = new Worker(new URL("./backup-thread.ts", import.meta.url), { workerData: options })
  const replies = createReplies(thread)
  // Does not wait for a database or a bucket that no longer responds.
  const onAbort = () => setTimeout(() => replies.fail("it was aborted"), limits.stopMsMax).unref()
  signal.addEventListener("abort", onAbort, { once: true })
  try {
    for (let next = replies.request("next"); ; ) {
      const reply = await next
      if (reply.kind === "end") return
      if (reply.kind === "failed") throw toError(reply)
      next = replies.request("next")
      yield reply.piece
    }
  } finally {
    signal.removeEventListener("abort", onAbort)
    await Promise.race([replies.request("stop"), Bun.sleep(limits.stopMsMax)])
    await thread.terminate()
  }
}

/**
 * Replies arrive in the order of the messages. After the thread has ended, every reply is a failure.
 */
function createReplies(thread: Worker) {
  const waiting: ((reply: BackupReply) => void)[] = []
  let failure: BackupReply | undefined
  const fail = (message: string) => {
    failure ??= { kind: "failed", code: "internal", message }
    for (const resolve of waiting.splice(0)) resolve(failure)
  }
  thread.on("message", (reply: BackupReply) => waiting.shift()?.(reply))
  thread.on("error", (error: Error) => fail(error.stack ?? error.message))
  thread.on("exit", () => fail("the thread of the backup has ended"))
  return {
    fail,
    request(message: "next" | "stop"): Promise<BackupReply> {
      if (failure) return Promise.resolve(failure)
      return new Promise((resolve) => {
        waiting.push(resolve)
        thread.postMessage(message)
      })
    },
  }
}

/** An unexpected error is a bug, and is logged like any other. */
function toError({ code, message }: Extract<BackupReply, { kind: "failed" }>): Error {
  return code === "internal" ? new Error(message) : new AppError(code, message)
}
