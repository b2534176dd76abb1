import { existsSync } from "node:fs"
import { hashText, readText } from "./val-file.ts"

/**
 * Where the readme of a file's val is: beside the file, with all of its name, so that `hello.ts`
 * and `hello.tsx` cannot be taken for each other.
 */
export function toReadmePath(path: string): string {
  return `${path}.README.md`
}

/** Whether a file is the readme of another one, by its name. */
export function isReadmePath(path: string): boolean {
  return /\.tsx?\.README\.md$/.test(path)
}

/** The readme beside a file, if there is one. */
export function findReadme(path: string): string | undefined {
  const readmePath = toReadmePath(path)
  return existsSync(readmePath) ? readText(readmePath) : undefined
}

/**
 * The same for readmes that are equal. A val without a readme and one whose readme is empty are
 * alike.
 */
export function hashReadme(readme: string | null | undefined): string {
  return hashText(readme ?? "")
}

/** A readme as the API takes it: an empty one is none. */
export function toReadmeField(readme: string): string | null {
  return readme === "" ? null : readme
}
