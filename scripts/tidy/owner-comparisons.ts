import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "./tree.ts"

const server = /^packages\/server\/src\/(?!domain\/access\/|storage\/access\/).+(?<!\.test)\.ts$/
const owner = String.raw`\w*\.(?:ownerId|userId)`
const caller = String.raw`(?:\w*[cC]aller|viewer)\??\.(?:ownerId|actorId|userId)`
/** The owner of something beside a caller, in whatever order. */
const comparison = new RegExp(
  String.raw`${owner} [!=]== ${caller}\b|${caller} [!=]== ${owner}\b`,
  "g",
)

/** One rule decides who may do what: comparisons beside it would be others. */
export function checkOwnerComparisons({ root, files }: Tree): string[] {
  return files
    .filter((path) => server.test(path))
    .flatMap((path) => {
      const code = readFileSync(join(root, path), "utf8")
      return Array.from(code.matchAll(comparison)).flatMap(({ 0: found, index }) => {
        const [left = "", right = ""] = found.split(/ [!=]== /).map((it) => it.split(/\??\./)[0])
        // The two accounts of one caller may be compared.
        if (left === right) return []
        const line = code.slice(0, index).split("\n").length
        return [
          `${path}:${line}: compares an owner with a caller; ask rightsOn or isOfAccount of domain/access/rights.ts`,
        ]
      })
    })
}
