// The program of a database process. It keeps the databases open that were used last.
import { existsSync, mkdirSync } from "node:fs"
import { RecentMap } from "@hamlet/kit"
import { serveRequests } from "@hamlet/sandbox/worker"
import { statementLimits } from "../database-limits.ts"
import type {
  DatabaseProcessSettings,
  DatabaseRequest,
  DatabaseResponse,
} from "../database-messages.ts"
import { listPaths, toDatabasePath, toValFolder } from "../database-paths.ts"
import { OwnerDatabase } from "./owner-database.ts"
import { createSizeCounter } from "./size-counter.ts"
import { TooManyDatabases, toOutcome } from "./sql-errors.ts"

const settings = JSON.parse(process.argv[2] ?? "{}") as DatabaseProcessSettings
/** By path. The one that was not used for longest is closed, if too many are open. */
const openDatabases = new RecentMap<string, OwnerDatabase>(settings.openMax, { onDrop: close })
const sizes = createSizeCounter(settings.folder)

await serveRequests(respond)
for (const database of openDatabases.values()) close(database)

function respond(request: DatabaseRequest): readonly [DatabaseResponse, ...Uint8Array[]] {
  const path = toDatabasePath(settings.folder, request)
  let database: OwnerDatabase | undefined
  try {
    database = openDatabases.get(path)
    if (!database) {
      const isNew = !existsSync(path)
      if (isNew && !request.mayCreate) return [{ kind: "missing" }]
      database = openDatabase(path, request, isNew)
      openDatabases.set(path, database)
    }
    return [{ kind: "done" }, database.run(request, () => sizes.countOthers(request))]
  } catch (error) {
    const index = request.mode === "single" ? undefined : database?.index
    const outcome = toOutcome(error, {
      ...settings,
      bytesMax: request.bytesMax ?? settings.bytesMax,
      index,
    })
    // Opening it again may help.
    if (outcome.kind === "unavailable") {
      close(database)
      openDatabases.delete(path)
    }
    return [outcome]
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

function close(database: OwnerDatabase | undefined): void {
  try {
    database?.stop()
  } catch {
    // The next request that opens it gets the same error, and reports it.
  }
}
