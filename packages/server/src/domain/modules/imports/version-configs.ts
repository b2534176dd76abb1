import { configPaths, readConfig, type ValConfig } from "@hamlet/contract/deno-json"
import { resolveMapped } from "@hamlet/contract/import-map"
import { RecentMap } from "@hamlet/kit"
import type { VersionFileStore } from "../graph/version-files.ts"
import { toConfigKey } from "./config-keys.ts"

/** The configuration of a version. */
export interface VersionConfig extends ValConfig {
  /** Equal for versions whose configurations mean the same. */
  readonly key: string
  /** The file that it is in, and since which version. */
  readonly path: string
  readonly since: number
  /**
   * The target of a string in the file at a path, if the map has one; see `resolveMapped`. Texts have
   * thousands of strings, so that all of them together are limited.
   */
  find(text: string, path: string): string | undefined
}

/** Finds the configurations of versions. */
export interface VersionConfigs {
  /** Null when there is none, or nothing in it counts. */
  find(branchId: string, version: number): Promise<VersionConfig | null>
}

const limits = {
  cachedMax: 500,
  /** Versions that are known to have none. */
  absentMax: 20_000,
  /** Comparisons of a string with a mapping, for one version. */
  comparisonsMax: 2_000_000,
}

/** Caches configurations, since a version never changes. */
export function createVersionConfigs(files: Pick<VersionFileStore, "find">): VersionConfigs {
  const known = new RecentMap<string, VersionConfig>(limits.cachedMax)
  const absent = new RecentMap<string, true>(limits.absentMax)
  const read = async (branchId: string, version: number) => {
    const found = await Promise.all(configPaths.map((path) => files.find(branchId, version, path)))
    const index = found.findIndex((file) => file !== undefined)
    const [file, path] = [found[index], configPaths[index]]
    const config = file && path && readConfig(path, file.content).config
    return config ? { ...config, path, since: file.since } : undefined
  }
  return {
    async find(branchId, version) {
      const id = `${branchId}@${version}`
      if (absent.get(id)) return null
      const cached = known.get(id)
      if (cached) return cached
      const found = await read(branchId, version)
      if (!found) {
        absent.set(id, true)
        return null
      }
      const config = { ...found, key: toConfigKey(toPlain(found)), find: createFind(found) }
      known.set(id, config)
      return config
    },
  }
}

function toPlain({ map, compiler }: ValConfig): ValConfig {
  return { map, compiler }
}

function createFind({ map }: ValConfig): VersionConfig["find"] {
  const count = map.scopes.reduce((sum, { imports }) => sum + imports.length, map.imports.length)
  let left = limits.comparisonsMax
  return (text, path) => {
    left -= count
    return left < 0 ? undefined : resolveMapped(map, text, path)
  }
}
