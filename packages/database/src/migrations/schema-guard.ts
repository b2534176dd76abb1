import { Refused } from "@hamlet/kit"
import type { Database } from "../database.ts"
import { selectIncompatible } from "./migrate.ts"

/** The database has a schema with which this process cannot work: a newer node has migrated it. */
export class NewerSchema extends Refused {}

/**
 * Guards a database against writes by a process that is older than its schema: they could omit data
 * that newer processes rely on, unless the migrations declare that they do not. Reads continue.
 * Writes stay refused until the process ends, and `onNewer` is called once.
 */
export function guardSchema(db: Database, newestKnown: number, onNewer: (problem: string) => void) {
  let problem: string | undefined
  const assertKnown = () => {
    if (problem !== undefined) throw new NewerSchema("database_unavailable", problem)
  }
  const guarded: Database = {
    ...db,
    async write(script, options) {
      assertKnown()
      return db.write(script, options)
    },
    async writeOne(...given) {
      assertKnown()
      return db.writeOne(...given)
    },
    async runUrgent(...given) {
      assertKnown()
      return db.runUrgent(...given)
    },
  }
  return {
    /** Throws `NewerSchema` once `check` has found that. */
    assertKnown,
    db: guarded,
    /** Reads the version of the schema. Throws `NewerSchema` if this process cannot work with it. */
    async check(): Promise<void> {
      if (problem === undefined) {
        const [newer] = await db.runUrgent<{ version: number; name: string }>(
          selectIncompatible(newestKnown),
        )
        if (newer) {
          const schema = `its schema is ${newer.version} "${newer.name}", this one knows up to ${newestKnown}`
          problem = `Cannot write to the database: a newer version of Hamlet has migrated it (${schema}); upgrade this node`
          onNewer(problem)
        }
      }
      assertKnown()
    },
  }
}
