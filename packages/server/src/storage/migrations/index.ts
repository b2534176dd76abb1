import type { Migration } from "../migrate.ts"
import { initial } from "./0001-initial.ts"

/** Every migration, in the order of their numbers. One that has landed is never changed again. */
export const migrations: readonly Migration[] = [initial]
