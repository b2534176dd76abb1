import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "./tree.ts"

type LockEntries = Readonly<
  Record<string, { readonly optionalDependencies?: Readonly<Record<string, string>> }>
>

/**
 * package-lock.json installs everywhere. npm writes one without the packages of other platforms
 * when it could not fetch them, and then refuses it in `npm ci`, on every machine, while `npm
 * install` goes on as if nothing were wrong.
 */
export function checkLockFile({ root, files }: Tree): string[] {
  if (!files.includes("package-lock.json")) return []
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: LockEntries
  }
  return Object.entries(packages).flatMap(([path, entry]) => {
    const names = Object.keys(entry.optionalDependencies ?? {})
    const absent = names.filter(
      (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
    )
    return absent.length > 0
      ? [
          `package-lock.json: ${path} may need what has no entry, and npm ci refuses that: ${absent.join(", ")}`,
        ]
      : []
  })
}
