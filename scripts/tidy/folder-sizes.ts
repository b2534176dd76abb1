import { dirname } from "node:path"
import type { Tree } from "./tree.ts"

const sourceFilesMax = 15
const source = /^(?:packages\/[^/]+\/(?:src|test)|scripts|bench)\/.+\.(?:tsx?|mjs)$/
/** Numbered files, which are read one at a time and only ever added. */
const isNumbered = (path: string) => /\/migrations\/\d{4}-/.test(path)
const isTest = (path: string) => /\.test\.tsx?$/.test(path)

/** A folder is small enough to read at a glance. */
export function checkFolderSizes({ files }: Tree): string[] {
  const counts = new Map<string, number>()
  for (const path of files) {
    if (!source.test(path) || isTest(path) || isNumbered(path)) continue
    counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  }
  return [...counts]
    .filter(([, count]) => count > sourceFilesMax)
    .map(
      ([folder, count]) =>
        `${folder}: has ${count} source files, more than ${sourceFilesMax}; group them by noun`,
    )
}
