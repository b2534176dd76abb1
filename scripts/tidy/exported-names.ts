import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "./tree.ts"

const source = /^(packages\/[^/]+)\/src\/.+\.tsx?$/
const isTest = (path: string) => /\.test\.tsx?$|\/testing\//.test(path)
const exported =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm

/** Names that each file of a folder exports by convention, since a table loads these files. */
const conventions: readonly { readonly folder: string; readonly name: string }[] = [
  { folder: "packages/cli/src/commands/", name: "command" },
  { folder: "packages/cli/src/commands/", name: "verbs" },
  { folder: "packages/web/src/app/pages/", name: "Page" },
]

/** A package exports a name from one file only, so that the name has one meaning. */
export function checkExportedNames({ root, files }: Tree): string[] {
  const filesByName = new Map<string, Set<string>>()
  for (const path of files) {
    const owner = source.exec(path)?.[1]
    if (owner === undefined || isTest(path)) continue
    for (const [, name = ""] of readFileSync(join(root, path), "utf8").matchAll(exported)) {
      if (conventions.some((rule) => path.startsWith(rule.folder) && rule.name === name)) continue
      const key = `${owner}: ${name}`
      filesByName.set(key, (filesByName.get(key) ?? new Set()).add(path))
    }
  }
  return [...filesByName]
    .filter(([, paths]) => paths.size > 1)
    .map(([key, paths]) => `${key} is exported by ${[...paths].join(" and by ")}: rename one`)
}
