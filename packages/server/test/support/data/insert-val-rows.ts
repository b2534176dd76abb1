import { type Statements, sql } from "@hamlet/database"
import type { Privacy } from "../../../src/domain/access/rights.ts"
import type { ValType } from "../../../src/domain/vals/vals.ts"

/** A val with one version. */
export interface PlacedVal {
  readonly id: string
  readonly ownerId: string
  readonly name: string
  readonly privacy?: Privacy
  readonly type?: ValType
  readonly code?: string
  readonly createdAt?: number
  readonly updatedAt?: number
}

/** Inserts the rows of a val without the rules of the server. */
export function* insertValRows({
  id,
  ownerId,
  name,
  privacy = "public",
  type = "script",
  code = "1",
  createdAt = 1,
  updatedAt = 1,
}: PlacedVal): Statements<void> {
  yield sql`insert into vals (id, owner_id, name, name_key, privacy, created_at, updated_at)
    values (${id}, ${ownerId}, ${name}, ${name.toLowerCase()}, ${privacy}, ${createdAt}, ${updatedAt})`
  yield sql`insert into branches (id, val_id, name, name_key, version, version_last, entry_type, created_at, updated_at)
    values (${id}, ${id}, 'main', 'main', 1, 1, ${type}, ${createdAt}, ${updatedAt})`
  yield sql`insert into versions (branch_id, version, created_at, entry_path, entry_since) values (${id}, 1, 1, 'main.tsx', 1)`
  yield sql`insert into files (id, branch_id, path) values (${id}, ${id}, 'main.tsx')`
  yield sql`insert into states (branch_id, path, since, file_id, type, created_at, content)
    values (${id}, 'main.tsx', 1, ${id}, ${type}, 1, ${code})`
}
