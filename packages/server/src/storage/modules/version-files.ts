import { isConfigPath } from "@hamlet/contract/deno-json"
import {
  createBatchLookup,
  createExactCache,
  type Database,
  join,
  raw,
  type Statement,
  sql,
} from "@hamlet/database"
import {
  isModulePath,
  type NamedBranch,
  type SavedVersion,
  type VersionFile,
  type VersionFileStore,
} from "../../domain/modules/graph/version-files.ts"
import { mainBranch } from "../../domain/modules/import-address.ts"
import {
  type PathRow,
  selectImports,
  selectPaths,
  selectStates,
  toPathStates,
} from "../files/branch-rows.ts"

interface FileRow {
  readonly key: string
  readonly fileId: string
  readonly type: VersionFile["type"] | "directory" | null
  readonly since: number
  readonly content: string | null
}

interface ModulePath {
  readonly path: string
}

interface ModuleRow extends ModulePath {
  /** Null for a directory, and where the file has ended. */
  readonly content: string | null
}

interface SpecifierRow {
  readonly path: string
  readonly specifiers: readonly string[] | null
}

const limits = {
  /** Files looked up in one statement. */
  keysMax: 20,
  cachedCharsMax: 8_000_000,
}

/** The files of versions in the database. */
export function createVersionFileStore(db: Database): VersionFileStore {
  const findByKey = createFindFile(db)
  return {
    findBranch: (valId, key) =>
      db.first<NamedBranch>`
        select id, name from branches where val_id = ${valId} and name_key = ${key ?? mainBranch}`,
    findBranchById: (valId, branchId) =>
      db.first<NamedBranch>`
        select id, name from branches where val_id = ${valId} and id = ${branchId}`,
    async findPath(branchId, version, fileId) {
      const row = await db.first<Pick<FileRow, "fileId" | "type"> & ModulePath>`
        select s.path, s.file_id, s.type from files f join states s on s.branch_id = f.branch_id and s.path = f.path
        where f.id = ${fileId} and f.branch_id = ${branchId} and s.since <= ${version} order by s.since desc limit 1`
      if (row?.fileId === fileId && row.type !== null) return row.path
      // The file was moved since, or deleted. No index has the states of a file.
      const found = toPathStates(await db.read<PathRow>(selectPaths(branchId, version)))
      return found.find((state) => state.fileId === fileId && state.type !== null)?.path
    },
    findVersion(branchId, version) {
      const number =
        version === null
          ? sql`(select b.version from branches b where b.id = ${branchId})`
          : sql`${version}`
      return db.first<SavedVersion>`
        select version as number, created_at as saved_at, entry_path from versions where branch_id = ${branchId} and version = ${number}`
    },
    async list(branchId, version) {
      const found = toPathStates(await db.read<PathRow>(selectPaths(branchId, version)))
      return found.flatMap(({ fileId: id, path, type, since, updatedAt }) =>
        type === null
          ? []
          : [{ id, path, type, version: since, updatedAt: new Date(updatedAt).toISOString() }],
      )
    },
    async listModules(branchId, version) {
      const files = await db.read<ModuleRow>(selectStates(branchId, version, "content"))
      const imports = await db.read<SpecifierRow>(
        selectImports(raw("i.path, i.specifiers as specifiers_json"), branchId, version),
      )
      const byPath = Map.groupBy(imports, ({ path }) => path)
      return files.flatMap(({ path, content: code }) =>
        code === null || !(isModulePath(path) || isConfigPath(path))
          ? []
          : [{ path, code, specifiers: toSpecifiers(byPath.get(path) ?? []) }],
      )
    },
    find: (branchId, version, path) => findByKey(`${branchId} ${version} ${path}`),
  }
}

function createFindFile(db: Database): (key: string) => Promise<VersionFile | undefined> {
  const fetchMany = async (keys: readonly string[]) => {
    const parts = keys.map((key) => sql`select * from (${selectFile(key)}) found`)
    const found = await db.read<FileRow>(join(parts, " union all "))
    return new Map(
      found.flatMap((row) => {
        const file = toFile(row)
        return file ? [[row.key, file] as const] : []
      }),
    )
  }
  if (db.dialect.gather) return createBatchLookup(fetchMany, limits)
  return createExactCache(
    db,
    async (key) => (await fetchMany([key])).get(key),
    { weightMax: limits.cachedCharsMax },
    ({ content }) => content.length + 200,
  )
}

/** The last state of the path that is not newer than the version. */
function selectFile(key: string): Statement {
  const [branchId = "", version, path = ""] = key.split(" ")
  return sql`select cast(${key} as ${raw("text")}) as key, file_id, type, since, content from states
    where branch_id = ${branchId} and path = ${path} and since <= ${Number(version)} order by since desc limit 1`
}

function toSpecifiers(rows: readonly SpecifierRow[]): readonly string[] | null {
  const all = rows.map(({ specifiers }) => specifiers)
  return all.every((one) => one !== null) ? all.flat() : null
}

function toFile({ fileId, type, since, content }: FileRow): VersionFile | undefined {
  if (type === null || type === "directory" || content === null) return undefined
  return { id: fileId, type, since, content }
}
