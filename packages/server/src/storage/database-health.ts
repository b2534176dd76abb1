import { AppError } from "../domain/app-error.ts"
import type { Database } from "./database/database.ts"

/** For the metrics: whether the database responds, and how often it did not. */
export interface DatabaseHealth {
  /** Whether the last read or ping got its result. */
  readonly isUp: boolean
  readonly readErrors: number
  readonly writeErrors: number
}

/** Counts the reads and writes that fail because the database is unavailable. */
export function watchHealth(db: Database): {
  readonly db: Database
  health(): DatabaseHealth
} {
  const health = { isUp: true, readErrors: 0, writeErrors: 0 }
  const observeRead = <T>(result: Promise<T>): Promise<T> => {
    result.then(
      () => {
        health.isUp = true
      },
      (error: unknown) => {
        health.isUp = !isUnavailable(error)
        if (!health.isUp) health.readErrors += 1
      },
    )
    return result
  }
  const observeWrite = <T>(result: Promise<T>): Promise<T> => {
    result.catch((error: unknown) => {
      if (isUnavailable(error)) health.writeErrors += 1
    })
    return result
  }
  return {
    db: {
      ...db,
      read: (statement) => observeRead(db.read(statement)),
      ping: () => observeRead(db.ping()),
      write: (script, options) => observeWrite(db.write(script, options)),
      writeOne: (statement, options) => observeWrite(db.writeOne(statement, options)),
    },
    health: () => ({ ...health }),
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === "database_unavailable"
}
