import { mainBranch } from "../../src/domain/modules/import-address.ts"
import type { Sources } from "../../src/domain/vals/val-source.ts"
import { type Database, firstRow } from "../../src/storage/database/database.ts"
import { sql } from "../../src/storage/database/sql.ts"
import type { FileType } from "../../src/storage/vals/branch-rows.ts"
import {
  type ChangedFile,
  insertFiles,
  insertVersions,
} from "../../src/storage/vals/write-version.ts"

/** The val whose files are saved. */
interface SavedVal {
  readonly id: string
  readonly name: string
  readonly owner: { readonly id: string; readonly username: string }
}

/** The contents of files by path; null deletes the file. */
export type FileContents = Readonly<Record<string, string | null>>

interface BranchRow {
  readonly id: string
  readonly version: number
  readonly entry_path: string | null
  readonly entry_since: number | null
  readonly readme_since: number | null
}

/** Saves files as the next version of a branch, which begins empty. Returns the version. */
export async function saveFiles(
  db: Database,
  sources: Sources,
  val: SavedVal,
  contents: FileContents,
  branchName: string = mainBranch,
): Promise<number> {
  const { id: userId, username } = val.owner
  const read = async (path: string, content: string | null) => {
    const caller = { userId, username } as Parameters<Sources["read"]>[0]
    const { imports = [], isRemote = false } =
      content === null ? {} : await sources.read(caller, content, val.name, path)
    return { path, content, imports, isRemote }
  }
  const files = await Promise.all(
    Object.entries(contents).map(([path, content]) => read(path, content)),
  )
  return await db.write(function* () {
    const key = branchName.toLowerCase()
    const newId = Bun.randomUUIDv7()
    yield sql`insert into branches (id, val_id, name, name_key, version, version_last, created_at, updated_at)
      select ${newId}, ${val.id}, ${branchName}, ${key}, 0, 0, 1, 1 where not exists
        (select 1 from branches where val_id = ${val.id} and name_key = ${key})`
    const branch = yield* firstRow<BranchRow>(sql`
      select b.id, b.version, n.entry_path, n.entry_since, n.readme_since from branches b
      left join versions n on n.branch_id = b.id and n.version = b.version
      where b.val_id = ${val.id} and b.name_key = ${key}`)
    if (!branch) throw new Error("The branch was not created")
    const { id, version: before } = branch
    const version = before + 1
    const createdAt = Date.now()
    const changed: ChangedFile[] = []
    for (const { path, content, imports } of files) {
      const known = yield* firstRow<{ file_id: string }>(
        sql`select file_id from states where branch_id = ${id} and path = ${path} order by since desc limit 1`,
      )
      const fileId = known?.file_id ?? Bun.randomUUIDv7()
      if (!known) yield* insertFiles(id, [{ path, fileId }])
      const type = content === null ? null : toType(path)
      changed.push({ path, fileId, type, content, imports })
    }
    yield sql`update branches set version = ${version}, version_last = ${version}, updated_at = ${createdAt} where id = ${id}`
    const entry = { path: branch.entry_path ?? "main.tsx", since: branch.entry_since ?? version }
    const isRemote = files.some((one) => one.isRemote)
    yield* insertVersions(
      db.dialect,
      { id, ownerId: userId, ownerName: username },
      [
        {
          ...{ version, createdAt, changed, packages: isRemote ? "fetch" : { of: before } },
          entry: entry.path in contents ? { ...entry, since: version } : entry,
          readmeSince: "README.md" in contents ? version : (branch.readme_since ?? undefined),
        },
      ],
      createdAt,
    )
    return version
  })
}

function toType(path: string): FileType {
  return /\.[jt]sx?$/.test(path) ? "script" : "file"
}
