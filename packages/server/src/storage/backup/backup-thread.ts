import { setPriority } from "node:os"
import { parentPort, workerData } from "node:worker_threads"
import { AppError } from "../../domain/app-error.ts"
import { createBucketPlace } from "../blobs/s3-objects.ts"
import { openPostgresSnapshot } from "./postgres-snapshot.ts"
import { openSqliteSnapshot } from "./sqlite-snapshot.ts"
import type { BackupOrders, BackupReply } from "./threaded-backup.ts"
import { writeBackup } from "./write-backup.ts"

// The thread of a backup: to read, pack and hash a database takes all of a processor, and requests
// are answered meanwhile. It is asked for one piece after the other, so that nothing piles up when
// nobody takes them.
const orders = workerData as BackupOrders
const niceness = 5
/** Small frames are sent together. */
const pieceBytesMin = 262_144

if (process.platform === "linux") setPriority(0, niceness)
const pieces = run()

parentPort?.on("message", (message: "next" | "stop") => {
  void (message === "next" ? answerNext() : stop())
})

async function* run(): AsyncGenerator<Uint8Array, void> {
  const snapshot = await (orders.databaseUrl === undefined
    ? openSqliteSnapshot(orders.sqlitePath)
    : openPostgresSnapshot(orders.databaseUrl))
  try {
    const { bucket, objectBytesMax } = orders
    yield* inPieces(
      writeBackup({
        ...orders,
        snapshot,
        bucket: bucket && createBucketPlace(bucket, objectBytesMax),
        now: Date.now,
      }),
    )
  } finally {
    await snapshot.stop()
  }
}

async function* inPieces(
  parts: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  let gathered: Uint8Array[] = []
  let bytes = 0
  for await (const part of parts) {
    gathered.push(part)
    bytes += part.length
    // The first at once: it shows that there is something to come.
    if (bytes < pieceBytesMin) continue
    yield Buffer.concat(gathered)
    gathered = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(gathered)
}

async function answerNext(): Promise<void> {
  try {
    const { done, value } = await pieces.next()
    if (done) return say({ kind: "end" })
    // Memory of its own, which goes over to the other thread.
    const piece = new Uint8Array(value)
    say({ kind: "piece", piece }, [piece.buffer])
  } catch (error) {
    const isKnown = error instanceof AppError
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    say({
      kind: "failed",
      code: isKnown ? error.code : "internal",
      message: isKnown ? error.message : text,
    })
  }
}

async function stop(): Promise<void> {
  await pieces.return()
  say({ kind: "end" })
}

function say(answer: BackupReply, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(answer, transfer)
}
