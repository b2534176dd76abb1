import { readFileSync } from "node:fs"
import { join } from "node:path"

/** The parts of a package.json that matter here. */
export interface PackageJson {
  readonly os?: unknown
  readonly cpu?: unknown
  readonly optionalDependencies?: Readonly<Record<string, unknown>>
}

/** An empty object when there is none that can be read. */
export function readPackage(folder: string): PackageJson {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    return typeof value === "object" && value !== null ? value : {}
  } catch {
    return {}
  }
}
