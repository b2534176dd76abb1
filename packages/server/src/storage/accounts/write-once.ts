import { type Database, firstRow, type Script, type WriteOptions } from "@hamlet/database"
import { findOnce, type Once } from "@hamlet/kit"
import { AppError } from "../../domain/app-error.ts"
import { writeLinks } from "../references/row-locks.ts"
import { isHeld } from "./idempotency.ts"

/**
 * Runs the script, or returns its earlier result when the same request ran it before. The result
 * must be representable in JSON.
 */
export function writeOnce<T>(
  db: Database,
  script: () => Script<T>,
  options?: Pick<WriteOptions, "inTurnOf">,
): Promise<T> {
  return doOnce(script, (tracked) => db.write(tracked, options))
}

/** Runs a script that changes links, or returns its earlier result, like `writeOnce`. */
export function writeLinksOnce<T>(
  db: Database,
  inTurnOf: string,
  script: () => Script<T>,
): Promise<T> {
  return doOnce(script, (tracked) => writeLinks(db, inTurnOf, tracked))
}

async function doOnce<T>(
  script: () => Script<T>,
  write: (script: () => Script<T>) => Promise<T>,
): Promise<T> {
  const once = findOnce()
  if (!once) return write(script)
  const earlier = once.takeRecorded()
  if (earlier) return earlier.value as T
  const result = await write(() => withProgress(once, script))
  once.recordWritten(result)
  return result
}

function* withProgress<T>(once: Once, script: () => Script<T>): Script<T> {
  const result = yield* script()
  const updated = yield* firstRow`
    update idempotency_keys set progress = ${once.toProgress(result)} where ${isHeld(once.claim)} returning key`
  // This server was considered dead or too slow, and another one has started the request again:
  // that one does the work.
  if (!updated)
    throw new AppError(
      "idempotency_in_flight",
      `Cannot use idempotency key "${once.claim.key}": another server has taken over its request`,
    )
  return result
}
