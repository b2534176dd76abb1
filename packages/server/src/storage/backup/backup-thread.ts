import { parentPort, workerData } from "node:worker_threads"
import { lowerPriority } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import { createBucketContent } from "../blobs/s3-objects.ts"
import type { BackupReply, BackupThreadOptions } from "./backup-source.ts"
import { toPostgresBackup } from "./databases/postgres.ts"
import { toSqliteBackup } from "./databases/sqlite.ts"
import { createFileSource } from "./owner-databases/database-files.ts"
import { createLibsqlSource } from "./owner-databases/libsql-source.ts"
import type { OwnerDatabaseSource } from "./owner-databases/owner-database-source.ts"
import { writeBackup } from "./write-backup.ts"

// The thread of a backup: reading, compressing and hashing a database keeps a CPU busy, and the main
// thread must serve requests meanwhile. The main thread requests one piece after the other, so that
// pieces do not pile up.
const options = workerData as BackupThreadOptions
/** Small frames are sent together, in pieces of at least this size. */
const pieceBytesMin = 262_144

lowerPriority()
const pieces = run()

parentPort?.on("message", (message: "next" | "stop") => {
  void (message === "next" ? sendNext() : stop())
})

async function* run(): AsyncGenerator<Uint8Array, void> {
  const database =
    options.databaseUrl === undefined
      ? toSqliteBackup(options.sqlitePath)
      : toPostgresBackup(options.databaseUrl)
  const snapshot = await database.openSnapshot()
  try {
    const { bucket, objectBytesMax } = options
    yield* inPieces(
      writeBackup({
        ...options,
        snapshot,
        bucket: bucket && createBucketContent(bucket, objectBytesMax),
        ownerDatabases: openSource(options),
        now: Date.now,
      }),
    )
  } finally {
    await snapshot.stop()
  }
}

function openSource({
  ownerDatabases: home,
  dataDir,
}: BackupThreadOptions): OwnerDatabaseSource | undefined {
  switch (home.kind) {
    case "none":
      return undefined
    case "files":
      return createFileSource(home.folder)
    case "libsql":
      return createLibsqlSource(home.server, dataDir)
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
    if (bytes < pieceBytesMin) continue
    yield Buffer.concat(gathered)
    gathered = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(gathered)
}

async function sendNext(): Promise<void> {
  try {
    const { done, value } = await pieces.next()
    if (done) return send({ kind: "end" })
    // A copy, whose memory is transferred to the main thread.
    const piece = new Uint8Array(value)
    send({ kind: "piece", piece }, [piece.buffer])
  } catch (error) {
    const isExpected = error instanceof AppError
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    send({
      kind: "failed",
      code: isExpected ? error.code : "internal",
      message: isExpected ? error.message : text,
    })
  }
}

async function stop(): Promise<void> {
  await pieces.return()
  send({ kind: "end" })
}

function send(reply: BackupReply, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(reply, transfer)
}
