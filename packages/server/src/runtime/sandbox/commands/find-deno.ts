import { existsSync } from "node:fs"
import { dirname, join } from "node:path"

/**
 * The Deno that was installed with this program. Its npm package has an install script that puts
 * the binary in place; where scripts are not run, the binary is still in the package for the
 * platform.
 */
export function findDeno(): string {
  const library = process.platform === "linux" ? "-glibc" : ""
  const names = ["deno", `@deno/${process.platform}-${process.arch}${library}`]
  const file = process.platform === "win32" ? "deno.exe" : "deno"
  for (const name of names) {
    const path = join(findPackage(name) ?? "", file)
    if (existsSync(path)) return path
  }
  return file
}

function findPackage(name: string): string | undefined {
  try {
    return dirname(Bun.resolveSync(`${name}/package.json`, import.meta.dir))
  } catch {
    return undefined
  }
}
