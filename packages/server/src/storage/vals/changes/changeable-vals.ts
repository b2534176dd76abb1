import { configPaths } from "@hamlet/contract/deno-json"
import type { Val } from "../../../domain/vals/vals.ts"
import { sql } from "../../database/sql.ts"
import {
  type MainBranch,
  type MainRow,
  mainColumns,
  toMainBranch,
} from "../../files/branch-rows.ts"
import { toVal, type ValRow, valColumns, withCurrentVersion } from "../val-rows.ts"

/** A val, and what the next change of it depends on. */
export interface ChangeableVal {
  readonly val: Val
  readonly main: MainBranch
  readonly hasDependencies: boolean
  /** Whether the current version imports packages. */
  readonly hasLockfile: boolean
  /** Whether the version may have a configuration. */
  readonly hasConfig: boolean
  /** Whether its entry file imports vals, which may not exist yet. */
  readonly hasImports: boolean
  /** Whether its owner has webhooks, which may want an event. */
  readonly hasWebhooks: boolean
}

/** SQLite returns 1, PostgreSQL true. */
type Flag = number | boolean

/** The columns of a changeable val. */
export interface ChangeableRow extends ValRow, MainRow {
  readonly hasDependencies: Flag
  readonly hasLockfile: Flag
  readonly hasConfig: Flag
  readonly hasImports: Flag
  readonly hasWebhooks: Flag
}

/** Selects changeable vals `v`. */
export const selectChangeable = sql`
  select ${valColumns}, ${mainColumns}, exists (select 1 from dependencies where from_val_id = v.id) as has_dependencies,
    exists (select 1 from locks l where l.branch_id = b.id and l.version = b.version) as has_lockfile,
    ((b.file_count > 1 or n.entry_path is null) and exists (select 1 from states s where s.branch_id = b.id and s.path in (${configPaths[0]}, ${configPaths[1]}))) as has_config,
    exists (select 1 from imports i where i.branch_id = b.id and i.path = n.entry_path and i.since = n.entry_since) as has_imports,
    exists (select 1 from webhooks w where w.owner_id = v.owner_id and w.status = 'active') as has_webhooks
  from vals v ${withCurrentVersion}`

/** Converts a row. */
export function toChangeable(row: ChangeableRow): ChangeableVal {
  const { hasDependencies, hasLockfile, hasConfig, hasImports, hasWebhooks, ...columns } = row
  const { versionLast, readmeSince, readmeFileId, readmeSavedAt, ...rest } = columns
  const { entryFileType, entrySavedAt, ...val } = rest
  return {
    val: toVal(val),
    main: toMainBranch(row),
    hasDependencies: Boolean(hasDependencies),
    hasLockfile: Boolean(hasLockfile),
    hasConfig: Boolean(hasConfig),
    hasImports: Boolean(hasImports),
    hasWebhooks: Boolean(hasWebhooks),
  }
}
