import { AppError } from "../app-error.ts"
import type { NamedBranch, VersionFileStore } from "../modules/graph/version-files.ts"
import { mainBranch } from "../modules/import-address.ts"
import type { CodeFile, Val } from "../vals/vals.ts"
import { versionNotFound } from "../vals/versions.ts"
import { branchNotFound } from "./branches.ts"
import { fileNotFound } from "./change-tree.ts"

/** Which file of a val is started; by default the entry file of the newest version of `main`. */
export interface StartedPlace {
  readonly path?: string | undefined
  /** The name of the branch. */
  readonly branch?: string | undefined
  readonly version?: number | undefined
}

/** Files as what is started of a val. */
export type StartedFiles = ReturnType<typeof createStartedFiles>

/** Creates the rules of started files: `code`, `type` and `version` of the val are then the file's. */
export function createStartedFiles(files: VersionFileStore) {
  const open = async (
    val: Val,
    branch: NamedBranch,
    version: number | undefined,
    findPath: (version: number, entryPath: string | null) => Promise<string | undefined>,
  ): Promise<Val> => {
    const found = await files.findVersion(branch.id, version ?? null)
    if (!found) throw versionNotFound(version ?? 0)
    const path = await findPath(found.number, found.entryPath)
    const file = path === undefined ? undefined : await files.find(branch.id, found.number, path)
    if (path === undefined || !file) throw fileNotFound(path ?? "")
    if (file.type === "file")
      throw new AppError(
        "not_code",
        `Cannot run "${path}": its type is file, and only code can run`,
      )
    return {
      ...val,
      code: file.content,
      type: file.type,
      version: found.number,
      file: {
        id: file.id,
        path,
        since: file.since,
        branchId: branch.id,
        branchName: branch.name,
        isEntry: branch.id === val.id && path === found.entryPath,
      },
      versionCreatedAt: found.savedAt,
    }
  }
  return {
    /** Throws when there is no such branch, version or file, or it is not code. */
    async get(val: Val, { path, branch: name, version }: StartedPlace): Promise<Val> {
      const key = (name ?? mainBranch).toLowerCase()
      const branch = await files.findBranch(val.id, key === mainBranch ? null : key)
      if (!branch) throw branchNotFound(name ?? mainBranch)
      return open(val, branch, version, async (_, entryPath) => path ?? entryPath ?? undefined)
    },
    /** Opens a file by its id, wherever it is in that version. */
    async getById(
      val: Val,
      { id, branchId }: Pick<CodeFile, "id" | "branchId">,
      version: number | undefined,
    ): Promise<Val> {
      const branch = await files.findBranchById(val.id, branchId)
      if (!branch) throw branchNotFound(branchId)
      return open(val, branch, version, (number) => files.findPath(branchId, number, id))
    },
  }
}
