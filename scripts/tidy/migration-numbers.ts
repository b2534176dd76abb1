import type { Tree } from "./tree.ts"

const folder = "packages/server/src/storage/migrations/"

/**
 * Migrations are 0029-name, 0030-name, … after the base, without a gap or a number given twice; two
 * branches that both add one collide here.
 */
export function checkMigrationNumbers({ files }: Tree): string[] {
  const names = files
    .filter((path) => path.startsWith(folder))
    .map((path) => path.slice(folder.length))
    .filter((name) => name !== "index.ts" && !name.includes(".test."))
    .sort()
  const first = Number.parseInt(names[0] ?? "", 10) || 1
  return names.flatMap((name, index) => {
    const expected = String(first + index).padStart(4, "0")
    return name.startsWith(`${expected}-`) ? [] : [`${folder}${name}: should be number ${expected}`]
  })
}
