import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "./tree.ts"

const fields = [
  "dependencies",
  "devDependencies",
  "optionalDependencies",
  "peerDependencies",
  "overrides",
] as const
type Manifest = Partial<Record<(typeof fields)[number], Record<string, unknown>>>

/** By its own name, or by another one where two versions of the same package are needed. */
const exactVersion = /^(?:npm:(?:@[\w.-]+\/)?[\w.-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/

/** Every dependency is one version, not a range: two people who install get the same program. */
export function checkExactVersions({ root, files }: Tree): string[] {
  const manifests = files.filter((path) => /^(?:packages\/[^/]+\/)?package\.json$/.test(path))
  return manifests.flatMap((path) => {
    const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest
    const dependencies = fields.flatMap((field) => Object.entries(manifest[field] ?? {}))
    return dependencies
      .filter(([, version]) => typeof version !== "string" || !exactVersion.test(version))
      .map(
        ([name, version]) =>
          `${path}: ${name} is ${JSON.stringify(version)}: write one exact version`,
      )
  })
}
