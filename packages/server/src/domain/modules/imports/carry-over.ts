import type { ValConfig } from "@hamlet/contract/deno-json"
import { dependsOnPath } from "@hamlet/contract/import-map"
import { toModuleType } from "@hamlet/sandbox"
import { isModulePath } from "../graph/version-files.ts"
import type { LockedImport, Lockfile, Resolution } from "../lockfiles.ts"
import { toTextKey } from "./config-keys.ts"
import type { ListPackages } from "./text-packages.ts"

/** A path that changes in a version. */
export interface ChangedModule {
  readonly path: string
  /** Whether there is nothing at the path any more. */
  readonly isEnd: boolean
  /** The path at which its text was before; undefined if it has a new text. */
  readonly from: string | undefined
  /** Undefined if it keeps its text. */
  readonly text: { readonly code: string; readonly listPackages: ListPackages } | undefined
}

const limits = { placesMax: 100 }

/**
 * What a version does for its packages: it takes those of the version before with its own places,
 * keeps them as they are, has them fetched, or has none.
 */
export type PackageDecision = { readonly carried: Resolution } | "keep" | "fetch" | "none"

/** Decides about the packages of a version that differs from the one before in these modules. */
export function decidePackages(
  before: Pick<Lockfile, "state" | "resolution"> | null,
  changed: readonly ChangedModule[],
  config: ValConfig | undefined,
): PackageDecision {
  const modules = changed.filter(isModule)
  if (modules.length === 0) return before ? "keep" : "none"
  const found = modules.map((one) => ({ ...one, packages: listPackages(one, config) }))
  const isKnown = found.every(({ packages }) => packages !== undefined)
  const hasPackages = found.some(({ packages }) => packages === undefined || packages.length > 0)
  if (before === null) return hasPackages ? "fetch" : "none"
  const { state, resolution } = before
  if (state !== "ready" || !resolution?.files || !isKnown) return hasPackages ? "fetch" : "keep"
  const carried = carryOver(resolution, resolution.files, found, config)
  if (carried === undefined) return "fetch"
  return carried.imports.length === 0 ? "none" : { carried }
}

/** Whether a path has, or had, code that may import packages. */
export function isModule({ path, from }: Pick<ChangedModule, "path" | "from">): boolean {
  return isCodePath(path) || isCodePath(from ?? "")
}

/** Undefined if only the resolver can tell. Those of a text that stays are known already. */
function listPackages({ path, isEnd, from, text }: ChangedModule, config: ValConfig | undefined) {
  if (isEnd || !isCodePath(path)) return []
  if (text) return text.listPackages(path, config)
  const isSameKind = isCodePath(from ?? "") && toModuleType(from ?? "") === toModuleType(path)
  return isSameKind && !(config && dependsOnPath(config.map)) ? [] : undefined
}

function isCodePath(path: string): boolean {
  return isModulePath(path) && toModuleType(path) !== "json"
}

type Found = ChangedModule & { readonly packages: ReturnType<ListPackages> }

/** Undefined if another set of packages is imported. */
function carryOver(
  before: Resolution,
  texts: NonNullable<Resolution["files"]>,
  changed: readonly Found[],
  config: ValConfig | undefined,
): Resolution | undefined {
  const old = new Map(texts)
  const known = new Set(old.values())
  const files = new Map(texts)
  const imports = new Map(before.imports.map((one) => [one.specifier, [...one.places]]))
  if (imports.size < before.imports.length) return undefined
  for (const { path } of changed) files.delete(path)
  for (const { path, isEnd, from, text, packages = [] } of changed) {
    const hash = text ? toTextKey(text.code, path, config) : old.get(from ?? "")
    if (isEnd || hash === undefined || (text && packages.length === 0)) continue
    files.set(path, hash)
    if (known.has(hash)) continue
    known.add(hash)
    for (const { specifier, start, end } of packages) {
      const places = imports.get(specifier)
      if (!places) return undefined
      places.push({ text: hash, start, end })
    }
  }
  const used = new Set(files.values())
  const kept = before.imports.map((one): LockedImport => {
    const places = imports.get(one.specifier) ?? []
    return { ...one, places: places.filter(({ text }) => text !== undefined && used.has(text)) }
  })
  if (files.size === 0) return { ...before, imports: [], files: [] }
  const isSame = kept.every(({ places }) => places.length > 0 && places.length <= limits.placesMax)
  return isSame ? { ...before, imports: kept, files: [...files] } : undefined
}
