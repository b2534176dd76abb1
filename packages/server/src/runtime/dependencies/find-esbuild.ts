import { dirname, join } from "node:path"

/** The program of esbuild for this machine, which is in a package of its own. */
export function findEsbuild(): string {
  const file = process.platform === "win32" ? "esbuild.exe" : "bin/esbuild"
  // It is a dependency of esbuild, and not of ours.
  const parent = dirname(Bun.resolveSync("esbuild/package.json", import.meta.dir))
  return join(
    dirname(Bun.resolveSync(`@esbuild/${process.platform}-${process.arch}/package.json`, parent)),
    file,
  )
}
