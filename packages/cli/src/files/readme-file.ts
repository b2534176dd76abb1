import { existsSync } from "node:fs"
import { hashText, readText } from "./val-file.ts"

/**
 * The path of the readme of a file's val: beside the file with its full name, so that the readmes
 * of `hello.ts` and `hello.tsx` differ.
 */
export function toReadmePath(path: string): string {
  return `${path}.README.md`
}

/** The readme beside a file, if any. */
export function findReadme(path: string): string | undefined {
  const readmePath = toReadmePath(path)
  return existsSync(readmePath) ? readText(readmePath) : undefined
}

/** Hashes a readme. A missing and an empty readme have the same hash. */
export function hashReadme(readme: string | null | undefined): string {
  return hashText(readme ?? "")
}

/** A readme as the API takes it: null if it is empty. */
export function toReadmeField(readme: string): string | null {
  return readme === "" ? null : readme
}
