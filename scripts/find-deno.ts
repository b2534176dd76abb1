import { existsSync } from "node:fs"
import { dirname, join } from "node:path"

/**
 * The path of the Deno that is installed with Hamlet. The install script of its npm package puts
 * the binary into the package itself; where install scripts do not run, it is only in the package
 * of the platform.
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
