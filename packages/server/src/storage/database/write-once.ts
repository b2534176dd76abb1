import { AppError } from "../../domain/app-error.ts"
import { findOnce, type Once } from "../../shared/once.ts"
import { isStill } from "../accounts/idempotency.ts"
import { writeLinks } from "../references/row-locks.ts"
import { type Database, firstRow, type Script } from "./database.ts"
import { sql } from "./sql.ts"

/**
 * Runs the script, or gives what came of it when the same request was worked on before. What comes
 * of it must be fit for JSON.
 */
export function writeOnce<T>(db: Database, script: () => Script<T>): Promise<T> {
  return doOnce(script, (noted) => db.write(noted))
}

/** The same for what changes links. */
export function writeLinksOnce<T>(db: Database, script: () => Script<T>): Promise<T> {
  return doOnce(script, (noted) => writeLinks(db, noted))
}

async function doOnce<T>(
  script: () => Script<T>,
  write: (script: () => Script<T>) => Promise<T>,
): Promise<T> {
  const once = findOnce()
  if (!once) return write(script)
  const known = once.repeat()
  if (known) return known.value as T
  const result = await write(() => withProgress(once, script))
  once.noteWritten(result)
  return result
}

function* withProgress<T>(once: Once, script: () => Script<T>): Script<T> {
  const result = yield* script()
  const noted = yield* firstRow(sql`
    update idempotency_keys set progress = ${once.toProgress(result)} where ${isStill(once.claim)} returning key`)
  // This server was taken for dead, or for too slow, and the request was begun anew: whoever did
  // that does the work.
  if (!noted)
    throw new AppError(
      "idempotency_in_flight",
      `Cannot use idempotency key "${once.claim.key}": its request is worked on elsewhere by now`,
    )
  return result
}
