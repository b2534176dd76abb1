import { raw, type Statement, sql } from "@hamlet/database"
import { type DatabaseView, hasTable } from "../database-view.ts"
import { about, type Findings } from "../finding.ts"
import { doctorLimits as limits } from "../limits.ts"

/** Whether the state `s` is that of its path in the current version of the branch `b`. */
const isCurrent = raw(`s.since <= b.version and not exists (select 1 from states l
  where l.branch_id = s.branch_id and l.path = s.path and l.since > s.since and l.since <= b.version)`)

/** What must not be: each selects the `id` of a val or a branch that has the fault. */
const faults: readonly (readonly [what: string, select: Statement])[] = [
  [
    "vals without a branch main",
    sql`select v.id from vals v where not exists (select 1 from branches b where b.id = v.id)`,
  ],
  [
    "branches whose current version is missing",
    sql`select b.id from branches b
      where not exists (select 1 from versions n where n.branch_id = b.id and n.version = b.version)`,
  ],
  [
    "versions whose code is missing",
    sql`select n.branch_id as id from versions n where n.entry_path is not null and not exists
      (select 1 from states s where s.branch_id = n.branch_id and s.path = n.entry_path and s.since = n.entry_since)`,
  ],
  [
    "branches with code but without an entry file",
    sql`select b.id from branches b join versions n on n.branch_id = b.id and n.version = b.version
      where n.entry_path is null and exists (select 1 from states s where s.branch_id = b.id
        and s.type is not null and s.type <> 'file' and s.type <> 'directory' and ${isCurrent})`,
  ],
  [
    "texts of files that do not exist",
    sql`select s.branch_id as id from states s where not exists (select 1 from files f where f.id = s.file_id)`,
  ],
  [
    "branches that count their files wrong",
    sql`select b.id from branches b where b.file_count <> (select count(*) from states s where s.branch_id = b.id
      and s.type is not null and s.type <> 'directory' and ${isCurrent})`,
  ],
  [
    "branches that count their bytes wrong",
    sql`select b.id from branches b
      where b.bytes <> (select coalesce(sum(octet_length(s.content)), 0) from states s where s.branch_id = b.id)`,
  ],
  [
    "vals that count their branches wrong",
    sql`select v.id from vals v where v.branch_count <> (select count(*) from branches b where b.val_id = v.id)`,
  ],
]

/** Whether vals, branches, versions and files fit together. */
export async function checkFiles(view: DatabaseView): Promise<Findings> {
  // A database of an earlier release is checked after its migration.
  if (!(await hasTable(view, "search_backlog"))) return []
  const [states] = await view.read<{ count: number | string }>(view.dialect.estimateRows("states"))
  if (Number(states?.count ?? 0) > limits.statesMax)
    return about("files").fine("too many to be compared here")
  const found: string[] = []
  for (const [what, select] of faults) {
    const some = await view.read<{ id: string }>`${select} limit ${limits.problemsMax}`
    if (some.length > 0) found.push(`${what}: ${some.map(({ id }) => id).join(", ")}`)
  }
  if (found.length === 0)
    return about("files").fine("vals, branches, versions and files fit together")
  return about("files").warning(
    found.join("; "),
    "make a backup, and report it as a fault of Hamlet: no request can cause this",
  )
}
