import { RecentMap } from "@hamlet/kit"
import type { VersionConfig } from "../imports/version-configs.ts"
import { toFileKey } from "./imported-files.ts"
import type { ModuleText, ModuleTexts } from "./module-texts.ts"
import { isModulePath, type VersionFileStore } from "./version-files.ts"

/** A module of a program. */
interface ImportingModule {
  readonly url: string
  readonly branchId: string
  readonly version: number
  readonly path: string
  readonly text: ModuleText
  readonly config: VersionConfig | null
}

interface Limits {
  readonly modulesMax: number
  readonly cachedMax: number
}

/**
 * Finds the other files of the versions whose modules may import any of them, by names that they
 * compute. The lists of paths are cached, since versions never change.
 */
export function createSpareModules(
  files: Pick<VersionFileStore, "list">,
  texts: ModuleTexts,
  { modulesMax, cachedMax }: Limits,
) {
  const known = new RecentMap<string, readonly string[]>(cachedMax)
  const listPaths = async (branchId: string, version: number) => {
    const key = `${branchId}@${version}`
    const cached = known.get(key)
    if (cached) return cached
    const paths = (await files.list(branchId, version))
      .filter(({ path, type }) => type !== "directory" && isModulePath(path))
      .map(({ path }) => path)
      .slice(0, modulesMax)
    known.set(key, paths)
    return paths
  }
  return async <Module extends ImportingModule>(modules: readonly Module[]) => {
    const importing = modules.filter(({ text }) => text.importsComputed)
    const versions = new Map(importing.map((one) => [`${one.branchId}@${one.version}`, one]))
    const found = await Promise.all(
      Array.from(versions.values(), async (module) => {
        const { branchId, version, config } = module
        const root = module.url.slice(0, -module.path.length)
        const paths = await listPaths(branchId, version)
        return await Promise.all(
          paths.map(async (path) => {
            const key = toFileKey(branchId, version, path)
            const text = await texts.find(key, branchId, version, path, config)
            const url = `${root}${path}`
            return text ? [{ url, module: { ...module, url, path, text, isSpare: true } }] : []
          }),
        )
      }),
    )
    return found.flat(2)
  }
}
