import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "./tree.ts"

/**
 * Paths that exist on one person's machine only. A letter before them makes them part of a longer
 * path or of a web address.
 */
const localPath = /(?<![\w.-])\/(?:work\/|(?:home|Users)\/[a-z])/i

const binaryExtension = /\.(?:png|jpe?g|gif|webp|ico|woff2?|ttf|wasm|gz|db)$/

/** No file names a folder of the machine it was written on. */
export function checkLocalPaths({ root, files }: Tree): string[] {
  return files
    .filter((path) => !binaryExtension.test(path))
    .flatMap((path) => checkFile(path, readFileSync(join(root, path), "utf8")))
}

function checkFile(path: string, text: string): string[] {
  if (!localPath.test(text)) return []
  return text.split("\n").flatMap((line, index) => {
    const found = localPath.exec(line)
    return found
      ? [
          `${path}:${index + 1}: names a path of one machine: ${line.slice(found.index, found.index + 40)}`,
        ]
      : []
  })
}
