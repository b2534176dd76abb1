// The program of a database process. It keeps the databases open that were used last.
import { existsSync, mkdirSync } from "node:fs"
import { serveFrames } from "../../worker-processes/serve-frames.ts"
import { statementLimits } from "../database-limits.ts"
import {
  type DatabaseProcessSettings,
  type DatabaseRequest,
  doneMark,
  type MissingDatabase,
  outcomeMark,
} from "../database-messages.ts"
import { listPaths, toDatabasePath, toValFolder } from "../database-paths.ts"
import { OwnerDatabase } from "./owner-database.ts"
import { createSizeCounter } from "./size-counter.ts"
import { TooManyDatabases, toOutcome } from "./sql-errors.ts"

const settings = JSON.parse(process.argv[2] ?? "{}") as DatabaseProcessSettings
/** By path, the one that was used last is the last. */
const openDatabases = new Map<string, OwnerDatabase>()
const sizes = createSizeCounter(settings.folder)
const missing: MissingDatabase = { kind: "missing" }

await serveFrames((frame) => respond(JSON.parse(frame.toString()) as DatabaseRequest))
for (const path of [...openDatabases.keys()]) closeDatabase(path)

function respond(request: DatabaseRequest): readonly (string | Uint8Array)[] {
  const path = toDatabasePath(settings.folder, request)
  let database: OwnerDatabase | undefined
  try {
    database = openDatabases.get(path)
    if (!database) {
      const isNew = !existsSync(path)
      if (isNew && !request.mayCreate) return [outcomeMark, JSON.stringify(missing)]
      database = openDatabase(path, request, isNew)
    }
    keepOpen(path, database)
    return [doneMark, database.run(request, () => sizes.countOthers(request))]
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

function openDatabase(
  path: string,
  { ownerId, valId }: DatabaseRequest,
  isNew: boolean,
): OwnerDatabase {
  if (valId !== undefined && isNew) {
    const { folder, databasesMax } = settings
    mkdirSync(toValFolder(folder, ownerId), { recursive: true, mode: 0o700 })
    // One of them is the own database of the user.
    if (listPaths(folder, ownerId).length > databasesMax) throw new TooManyDatabases(databasesMax)
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
