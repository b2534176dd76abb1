import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Person } from "./stage.ts"

/** The text of a file in the folder of a person. */
export function read({ folder }: Person, ...path: readonly string[]): string {
  return readFileSync(join(folder, ...path), "utf8")
}

/** Writes a file into the folder of a person. */
export function write({ folder }: Person, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), content)
}

/** The names in the folder of a person, without hidden ones. */
export function list({ folder }: Person, inner = "."): readonly string[] {
  return readdirSync(join(folder, inner))
    .filter((name) => !name.startsWith("."))
    .sort()
}

/** The names in the trash, without their dates. */
export function listTrash(person: Person): readonly string[] {
  return list(person, ".hamlet/trash").map((name) => name.replace(/^\d{4}-\d\d-\d\d-/, ""))
}
