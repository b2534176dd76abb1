// The program of a database process: one request in, one answer out, nothing in between. It waits
// for requests without an event loop, which is the fastest way to answer them, and ends when the
// server has nothing more to ask.
import { readSync, writeSync } from "node:fs"
import { join } from "node:path"
import type { SqlRequest } from "../../../domain/owner-databases.ts"
import {
  createFrameReader,
  doneMark,
  frameDescriptor,
  outcomeMark,
  readyMark,
  toAnswerFrame,
} from "../database-frames.ts"
import { statementLimits } from "../database-limits.ts"
import type { ProcessSettings } from "../database-process.ts"
import { endWithServer } from "./end-with-server.ts"
import { OwnerDatabase } from "./owner-database.ts"
import { toOutcome } from "./to-outcome.ts"

const settings: ProcessSettings = JSON.parse(process.argv[2] ?? "{}")
const chunkBytes = 65_536
/** Those that were used last, by their owners. */
const open = new Map<string, OwnerDatabase>()

if (settings.serverPid !== undefined) endWithServer(settings.serverPid)
answer(readyMark, new Uint8Array())
for (const request of readRequests()) answerRequest(request)
for (const ownerId of [...open.keys()]) closeDatabase(ownerId)

function* readRequests(): Generator<SqlRequest> {
  const readFrame = createFrameReader()
  const chunk = Buffer.allocUnsafe(chunkBytes)
  for (;;) {
    const bytes = readSync(frameDescriptor, chunk)
    if (bytes === 0) return
    const frame = readFrame(chunk.subarray(0, bytes))
    if (frame) yield JSON.parse(frame.toString()) as SqlRequest
  }
}

function answerRequest(request: SqlRequest): void {
  let database: OwnerDatabase | undefined
  try {
    database = openDatabase(request.ownerId)
    answer(doneMark, database.run(request))
  } catch (error) {
    const index = request.mode === "single" ? undefined : database?.index
    const outcome = toOutcome(error, {
      ...settings,
      bytesMax: request.bytesMax ?? settings.bytesMax,
      index,
    })
    // It may be fine again once it is opened anew.
    if (outcome.kind === "unavailable") closeDatabase(request.ownerId)
    answer(outcomeMark, Buffer.from(JSON.stringify(outcome)))
  }
}

function openDatabase(ownerId: string): OwnerDatabase {
  const database =
    open.get(ownerId) ??
    new OwnerDatabase(join(settings.folder, `${ownerId}.db`), settings, statementLimits)
  open.delete(ownerId)
  open.set(ownerId, database)
  const [oldest = ""] = open.keys()
  if (open.size > settings.openMax) closeDatabase(oldest)
  return database
}

function closeDatabase(ownerId: string): void {
  try {
    open.get(ownerId)?.stop()
  } catch {
    // Whoever opens it next sees what is wrong with it, and has somebody to tell.
  }
  open.delete(ownerId)
}

function answer(mark: number, json: Uint8Array): void {
  const frame = toAnswerFrame(mark, json)
  for (let sent = 0; sent < frame.length; ) sent += writeSync(frameDescriptor, frame, sent)
}
