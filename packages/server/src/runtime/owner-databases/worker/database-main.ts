// The program of a database process. It keeps the databases open that were used last.
import { existsSync, mkdirSync } from "node:fs"
import type { SqlRequest } from "../../../domain/owner-databases.ts"
import { serveFrames } from "../../worker-processes/serve-frames.ts"
import { statementLimits } from "../database-limits.ts"
import { type DatabaseProcessSettings, doneMark, outcomeMark } from "../database-messages.ts"
import {
  countOtherBytes,
  countValDatabases,
  toDatabasePath,
  toValFolder,
} from "../database-paths.ts"
import { OwnerDatabase } from "./owner-database.ts"
import { TooManyDatabases, toOutcome } from "./sql-errors.ts"

const settings = JSON.parse(process.argv[2] ?? "{}") as DatabaseProcessSettings
/** By path, the one that was used last is the last. */
const openDatabases = new Map<string, OwnerDatabase>()

await serveFrames((frame) => respond(JSON.parse(frame.toString()) as SqlRequest))
for (const path of [...openDatabases.keys()]) closeDatabase(path)

function respond(request: SqlRequest): readonly (string | Uint8Array)[] {
  const path = toDatabasePath(settings.folder, request)
  let database: OwnerDatabase | undefined
  try {
    database = openDatabases.get(path) ?? openDatabase(path, request)
    keepOpen(path, database)
    return [doneMark, database.run(request, () => countOtherBytes(settings.folder, request))]
  } catch (error) {
    const index = request.mode === "single" ? undefined : database?.index
    const outcome = toOutcome(error, {
      ...settings,
      bytesMax: request.bytesMax ?? settings.bytesMax,
      index,
    })
    // Opening it again may help.
    if (outcome.kind === "unavailable") closeDatabase(path)
    return [outcomeMark, JSON.stringify(outcome)]
  }
}

function openDatabase(path: string, { ownerId, valId }: SqlRequest): OwnerDatabase {
  if (valId !== undefined && !existsSync(path)) {
    const { folder, databasesMax } = settings
    mkdirSync(toValFolder(folder, ownerId), { recursive: true, mode: 0o700 })
    if (countValDatabases(folder, ownerId) >= databasesMax) throw new TooManyDatabases(databasesMax)
  }
  return new OwnerDatabase(path, settings, statementLimits)
}

/** Closes the one that was not used for longest, if too many are open. */
function keepOpen(path: string, database: OwnerDatabase): void {
  openDatabases.delete(path)
  openDatabases.set(path, database)
  const [oldest = ""] = openDatabases.keys()
  if (openDatabases.size > settings.openMax) closeDatabase(oldest)
}

function closeDatabase(path: string): void {
  try {
    openDatabases.get(path)?.stop()
  } catch {
    // The next request that opens it gets the same error, and reports it.
  }
  openDatabases.delete(path)
}
