import { expect } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

/** The files of a folder and their texts, without those of `.hamlet`. */
export function readTree(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith(".hamlet/"))
  return Object.fromEntries(
    paths.sort().map((path) => [path, readFileSync(join(folder, path), "utf8")]),
  )
}

/** Writes files into a folder. */
export function writeTree(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** Compares two folders byte for byte. */
export function expectSameTrees(one: string, other: string): void {
  expect(readTree(other)).toEqual(readTree(one))
}
