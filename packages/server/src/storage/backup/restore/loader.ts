import { type Migration, migrate, raw } from "@hamlet/database"
import {
  type BackupDatabase,
  type LoadConnection,
  readTables,
} from "../databases/backup-database.ts"

/**
 * A backup that cannot be restored, or not into this server. The message completes the sentence
 * `Cannot restore "file": …`.
 */
export class RestoreRefused extends Error {
  override readonly name = "RestoreRefused"
}

export type Loader = ReturnType<typeof createLoader>

/**
 * Fills an empty database. Before `commit` nothing of it is visible, and any failure leaves the
 * database empty.
 */
export function createLoader(database: BackupDatabase) {
  let connection: LoadConnection | undefined
  let dropped: readonly { readonly drop: string; readonly create: string }[] = []
  const opened = () => {
    if (!connection) throw new Error("Cannot load: begin was not called")
    return connection
  }
  const assertEmpty = async () => {
    const obstacle = await findObstacle(database)
    if (obstacle !== undefined) throw new RestoreRefused(obstacle)
  }
  return {
    /** Why a restore is not possible: undefined when the database is empty. */
    findObstacle: () => findObstacle(database),
    /** Creates the tables, without indexes and foreign keys, and connects to them. */
    async begin(migrations: readonly Migration[]): Promise<LoadConnection> {
      const target = await database.openTarget()
      await migrate(target, migrations).finally(() => target.stop())
      connection = await database.openLoad()
      // A server may have been started meanwhile.
      await assertEmpty()
      dropped = await connection.run(connection.obstructions)
      for (const { drop } of dropped) await connection.run(raw(drop))
      return connection
    },
    /** Creates the indexes and foreign keys that `begin` left out, and checks all references. */
    async finish(signal: AbortSignal): Promise<void> {
      const { completion, brokenReferences, run } = opened()
      for (const statement of [
        ...dropped.toReversed().map(({ create }) => create),
        ...completion,
      ]) {
        // Each may block the thread for minutes: let signals through in between.
        await Bun.sleep(0)
        signal.throwIfAborted()
        await run(raw(statement))
      }
      const [broken] = brokenReferences
        ? await run<{ table: string; parent: string }>(brokenReferences)
        : []
      if (broken)
        throw new RestoreRefused(
          `a row of ${broken.table} refers to a missing row of ${broken.parent}`,
        )
    },
    /** Makes the restored data visible. The first server that starts migrates it. */
    async commit(): Promise<void> {
      try {
        await opened().run(raw("commit"))
      } catch (error) {
        await connection?.stop()
        // The connection may have broken after the commit, so ask the database whether it happened.
        if ((await findObstacle(database)) === undefined) throw error
      }
      await connection?.stop()
      await database.place(assertEmpty)
    },
    /** Removes everything that was loaded. */
    async abort(): Promise<void> {
      await connection?.stop()
      database.discard()
    },
  }
}

/** Why the database is not empty; undefined if it is. */
async function findObstacle({ name, inspect }: BackupDatabase): Promise<string | undefined> {
  const found = await inspect()
  if (!found) return undefined
  try {
    const tables = await readTables(found)
    for (const table of ["users", "vals"].filter((each) => tables.has(each))) {
      const [row] = await found.read(raw(`select 1 from ${table} limit 1`))
      if (row) return `${name} already contains ${table}, and a restore needs an empty server`
    }
    return undefined
  } finally {
    await found.stop()
  }
}
