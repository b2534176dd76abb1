import type { Tree } from "./tree.ts"

const folder = "packages/server/src/storage/migrations/"

/**
 * Migrations are 0001-name, 0002-name, … without a gap or a number given twice; two branches that
 * both add one collide here.
 */
export function checkMigrationNumbers({ files }: Tree): string[] {
  const names = files
    .filter((path) => path.startsWith(folder))
    .map((path) => path.slice(folder.length))
    .filter((name) => name !== "index.ts" && !name.includes(".test."))
  return names.sort().flatMap((name, index) => {
    const expected = String(index + 1).padStart(4, "0")
    return name.startsWith(`${expected}-`) ? [] : [`${folder}${name}: should be number ${expected}`]
  })
}
