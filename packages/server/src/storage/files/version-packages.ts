import { configPaths, readConfig, type ValConfig } from "@hamlet/contract/deno-json"
import { join, rows, type Script, sql } from "@hamlet/database"
import type { ImportHosts } from "../../domain/modules/import-address.ts"
import {
  type ChangedModule,
  decidePackages,
  isModule,
  type PackageDecision,
} from "../../domain/modules/imports/carry-over.ts"
import { toConfigKey } from "../../domain/modules/imports/config-keys.ts"
import { hasPackages } from "../../domain/modules/imports/text-packages.ts"
import { readLockfile } from "../modules/lockfiles.ts"

/** A branch at the version before a save. */
interface BranchBefore {
  readonly id: string
  readonly version: number
  /** False if it is known that the version has no configuration. */
  readonly mayHaveConfig: boolean
  /** False if it is known that the version imports no packages. */
  readonly mayHaveLockfile: boolean
}

/** Texts of paths that change; null for a path that ends. */
type NewTexts = ReadonlyMap<string, string | null>

/** Decides about the packages of the next version of a branch. A new configuration needs the hosts. */
export function* findPackages(
  branch: BranchBefore,
  changed: readonly ChangedModule[],
  texts: NewTexts,
  hosts?: ImportHosts,
): Script<PackageDecision> {
  const old = branch.mayHaveConfig ? yield* readConfigTexts(branch) : new Map<string, string>()
  const before = toConfig((path) => old.get(path))
  const after = toConfig((path) => (texts.has(path) ? texts.get(path) : old.get(path)) ?? undefined)
  const isSame = toKey(before) === toKey(after)
  // A lockfile that stays is copied without being read.
  if (isSame && !changed.some(isModule)) return "keep"
  const lock = branch.mayHaveLockfile
    ? yield* readLockfile({ ...branch, branchId: branch.id })
    : null
  if (isSame) return decidePackages(lock, changed, after)
  return lock || (after && hosts && hasPackages(after, hosts))
    ? "fetch"
    : decidePackages(lock, changed, after)
}

/** The texts of the files that may be the configuration of a version. */
function* readConfigTexts({ id, version }: BranchBefore): Script<ReadonlyMap<string, string>> {
  const parts = configPaths.map(
    (path) => sql`select * from (select path, content from states where branch_id = ${id}
      and path = ${path} and since <= ${version} order by since desc limit 1) found`,
  )
  const found = yield* rows<{ path: string; content: string | null }>(join(parts, " union all "))
  return new Map(found.flatMap(({ path, content }) => (content === null ? [] : [[path, content]])))
}

function toConfig(find: (path: string) => string | undefined): ValConfig | undefined {
  for (const path of configPaths) {
    const text = find(path)
    if (text !== undefined) return readConfig(path, text).config
  }
  return undefined
}

function toKey(config: ValConfig | undefined): string {
  return config ? toConfigKey(config) : ""
}
