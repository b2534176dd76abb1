// The program of a database process. It keeps the databases open that were used last.
import { join } from "node:path"
import type { SqlRequest } from "../../../domain/owner-databases.ts"
import { serveFrames } from "../../worker-processes/serve-frames.ts"
import { statementLimits } from "../database-limits.ts"
import { type DatabaseProcessSettings, doneMark, outcomeMark } from "../database-messages.ts"
import { OwnerDatabase } from "./owner-database.ts"
import { toOutcome } from "./sql-errors.ts"

const settings = JSON.parse(process.argv[2] ?? "{}") as DatabaseProcessSettings
/** By owner, the one that was used last is the last. */
const openDatabases = new Map<string, OwnerDatabase>()

await serveFrames((frame) => respond(JSON.parse(frame.toString()) as SqlRequest))
for (const ownerId of [...openDatabases.keys()]) closeDatabase(ownerId)

function respond(request: SqlRequest): readonly (string | Uint8Array)[] {
  let database: OwnerDatabase | undefined
  try {
    database = openDatabase(request.ownerId)
    return [doneMark, database.run(request)]
  } catch (error) {
    const index = request.mode === "single" ? undefined : database?.index
    const outcome = toOutcome(error, {
      ...settings,
      bytesMax: request.bytesMax ?? settings.bytesMax,
      index,
    })
    // Opening it again may help.
    if (outcome.kind === "unavailable") closeDatabase(request.ownerId)
    return [outcomeMark, JSON.stringify(outcome)]
  }
}

function openDatabase(ownerId: string): OwnerDatabase {
  const database =
    openDatabases.get(ownerId) ??
    new OwnerDatabase(join(settings.folder, `${ownerId}.db`), settings, statementLimits)
  openDatabases.delete(ownerId)
  openDatabases.set(ownerId, database)
  const [oldest = ""] = openDatabases.keys()
  if (openDatabases.size > settings.openMax) closeDatabase(oldest)
  return database
}

function closeDatabase(ownerId: string): void {
  try {
    openDatabases.get(ownerId)?.stop()
  } catch {
    // The next request that opens it gets the same error, and reports it.
  }
  openDatabases.delete(ownerId)
}
