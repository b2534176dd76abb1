import { toModuleType } from "@hamlet/sandbox"
import type { Caller } from "../access/caller.ts"
import { AppError } from "../app-error.ts"
import {
  isModulePath,
  type VersionFile,
  type VersionFileStore,
} from "../modules/graph/version-files.ts"
import { parsePin } from "../modules/import-address.ts"
import { listConfigEdits } from "../modules/imports/config-edits.ts"
import { createVersionConfigs } from "../modules/imports/version-configs.ts"
import { applyTextEdits } from "../vals/relative-imports.ts"
import type { Sources } from "../vals/val-source.ts"
import type { Val, Vals } from "../vals/vals.ts"
import { versionNotFound } from "../vals/versions.ts"

/** The file that a module address means. */
export interface ModuleFile {
  readonly val: Val
  readonly branchId: string
  readonly branchName: string
  readonly version: number
  readonly path: string
  readonly file: VersionFile
  /** Whether the address names the version, so that it always means this text. */
  readonly isPinned: boolean
}

/** What a module address names; without a path, the entry file. */
export interface ModuleAddress {
  readonly username: string
  /** With what follows it after an `@`. */
  readonly val: string
  readonly path: string | undefined
}

/** A file in a version, with its address. */
interface ServedFile {
  readonly url: string
  readonly path: string
  readonly code: string
  readonly branchId: string
  readonly version: number
  readonly ownerId: string
}

/** The files at module addresses. */
export type ModuleFiles = ReturnType<typeof createModuleFiles>

/** Creates the rules of module addresses. A file is visible exactly if its val is. */
export function createModuleFiles(
  vals: Vals,
  files: VersionFileStore,
  { parser }: Pick<Sources, "parser">,
) {
  const configs = createVersionConfigs(files)
  return {
    /**
     * The text of a file as other programs than ours read it: they do not know the configuration of
     * its version, so that names are replaced by the addresses that they mean.
     */
    async toText({ branchId, version, ownerId, ...file }: ServedFile): Promise<string> {
      const isCode = toModuleType(file.path) !== "json" && isModulePath(file.path)
      const config = isCode ? await configs.find(branchId, version) : null
      if (!config) return file.code
      const written = await parser.scanPlaces(file.code, ownerId)
      return applyTextEdits(file.code, listConfigEdits({ ...file, config }, written ?? []))
    },
    async get(
      caller: Caller | undefined,
      { username, val: text, path: given }: ModuleAddress,
    ): Promise<ModuleFile> {
      const [name = "", ...rest] = text.split("@")
      const pinned = rest.length === 0 ? undefined : rest.join("@")
      const val = await vals.getByName(caller, username, name)
      const pin = pinned === undefined ? { branch: null, version: null } : parsePin(pinned)
      const branch = pin && (await files.findBranch(val.id, pin.branch))
      const version = branch && (await files.findVersion(branch.id, pin.version))
      if (!pin || !branch || !version) throw versionNotFound(pinned ?? "")
      const path = given ?? version.entryPath ?? ""
      const file = await files.find(branch.id, version.number, path)
      if (!file) throw fileNotFound(path, version.number)
      const isPinned = pin.version !== null
      const place = { branchId: branch.id, branchName: branch.name, version: version.number }
      return { val, ...place, path, file, isPinned }
    },
  }
}

function fileNotFound(path: string, version: number): AppError {
  return new AppError(
    "file_not_found",
    `Cannot find file "${path}": version ${version} of the val has none with that path`,
  )
}
