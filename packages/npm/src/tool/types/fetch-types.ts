import { mkdirSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { installFolder } from "../bundle/bundle-plugin.ts"
import type { CollectedFiles } from "../bundle/collect-files.ts"
import type { DenoGraph } from "../deno-graph.ts"
import { type DenoSetup, fetchInfo } from "../deno-info.ts"
import { writeMain } from "../fetch-graph.ts"
import type { ToolResolveLimits } from "../tool-messages.ts"
import { collectTypes, type ImportedPackage, toTypesName } from "./collect-types.ts"
import { findEntries, readTypesPackage } from "./find-declaration.ts"

const limits = {
  /** Packages without types for which others are fetched, at once. */
  foreignMax: 6,
  /** The time for all of them: the lockfile waits for it. */
  foreignMsMax: 5_000,
}

/**
 * The declarations of the imported npm packages, for editors; undefined if there are none. For a
 * package without declarations, those of `@types/…` are fetched. Code runs without them, so no
 * failure here is one of the import.
 */
export async function fetchTypes(
  setup: DenoSetup,
  graph: DenoGraph,
  specifiers: readonly string[],
  toolLimits: ToolResolveLimits,
): Promise<CollectedFiles | undefined> {
  try {
    const packages = listPackages(graph, specifiers)
    const roots = [join(setup.cwd, installFolder)]
    const signal = AbortSignal.timeout(limits.foreignMsMax)
    const bare = packages.filter((one) => !hasTypes(one)).slice(0, limits.foreignMax)
    const fetching = bare.map(async (one, index) => {
      const cwd = join(setup.cwd, "types", String(index))
      const typesPath = await fetchForeign({ ...setup, cwd }, one, signal)
      if (typesPath === undefined) return
      roots.push(join(cwd, installFolder))
      packages[packages.indexOf(one)] = { ...one, typesPath }
    })
    await Promise.all(fetching)
    return collectTypes(packages, roots, toolLimits)
  } catch (error) {
    console.error("Cannot collect types:", error)
    return undefined
  }
}

function listPackages(graph: DenoGraph, specifiers: readonly string[]): ImportedPackage[] {
  const packages = new Map<string, ImportedPackage>()
  for (const specifier of specifiers) {
    const module = graph.find(specifier)
    const found = module?.kind === "npm" ? graph.findPackage(module.npmPackage) : undefined
    if (!module || !found?.localPath) continue
    const { name, version, localPath } = found
    const subpath = `.${/^npm:\/?(?:@[^/]+\/)?[^/]+(\/.*)?$/.exec(module.specifier)?.[1] ?? ""}`
    const known = packages.get(`${name}@${version}`)
    const subpaths = [...(known?.subpaths ?? []), subpath]
    packages.set(`${name}@${version}`, { name, version, path: realpathSync(localPath), subpaths })
  }
  return [...packages.values()]
}

function hasTypes({ path, subpaths }: ImportedPackage): boolean {
  const packageJson = readTypesPackage(path)
  return (
    packageJson !== undefined &&
    subpaths.some((one) => findEntries(path, packageJson, one).length > 0)
  )
}

/** Fetches `@types/…` of the same major version, or else the latest one. Returns its folder. */
async function fetchForeign(
  setup: DenoSetup,
  { name, version }: ImportedPackage,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (name.startsWith("@types/")) return undefined
  const typesName = toTypesName(name)
  mkdirSync(setup.cwd, { recursive: true })
  for (const range of [`@${toRange(version)}`, ""]) {
    const main = writeMain(setup.cwd, [{ specifier: `npm:${typesName}${range}`, type: undefined }])
    const info = await fetchInfo(setup, main, signal).catch(() => undefined)
    const found = Object.values(info?.npmPackages ?? {}).find((one) => one.name === typesName)
    if (found?.localPath !== undefined && readTypesPackage(found.localPath))
      return realpathSync(found.localPath)
    if (signal.aborted) return undefined
  }
  return undefined
}

/** `4` for 4.17.21, and `0.8` for 0.8.1. */
function toRange(version: string): string {
  return /^(?:0\.\d+|\d+)/.exec(version)?.[0] ?? version
}
