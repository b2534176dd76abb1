import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"

const bytesMax = 1024 ** 2

/** The fields of a package.json. Nothing in it is trusted. */
export type PackageJson = Readonly<Record<string, unknown>>

/** Undefined when there is none that can be read. */
export function readPackage(folder: string): PackageJson | undefined {
  const path = join(folder, "package.json")
  try {
    const value =
      statSync(path).size > bytesMax ? undefined : JSON.parse(readFileSync(path, "utf8"))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

export function isRecord(value: unknown): value is PackageJson {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
