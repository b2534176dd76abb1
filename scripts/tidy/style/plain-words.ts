import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Tree } from "../tree.ts"

/** Words for persons, or for nothing in particular, that hide the subject of a technical sentence. */
const vagueWords = /\b(?:whoever|somebody|nobody|everybody|whatever)\b/gi
const vagueWordsPerThousandMax = 1
/** A tree with fewer words has no meaningful rate. */
const wordsMin = 1_000
/** How many places a failure names. */
const placesMax = 10

const sourceFile = /\.(?:tsx?|mjs)$/
const comment = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g

/** Comments and documents name their subjects: few of their words are vague. */
export function checkPlainWords({ root, files }: Tree): string[] {
  let words = 0
  const places: string[] = []
  for (const path of files.filter((file) => sourceFile.test(file) || file.endsWith(".md"))) {
    const text = readFileSync(join(root, path), "utf8")
    const prose = path.endsWith(".md") ? text : (text.match(comment) ?? []).join("\n")
    words += prose.match(/\p{L}+/gu)?.length ?? 0
    for (const [word] of prose.matchAll(vagueWords)) places.push(`${path}: ${word}`)
  }
  const placesAllowed = (words / 1_000) * vagueWordsPerThousandMax
  if (words < wordsMin || places.length <= placesAllowed) return []
  const rate = ((places.length / words) * 1_000).toFixed(1)
  return [
    `Comments and documents have ${rate} vague words per 1,000, and may have ${vagueWordsPerThousandMax}; name the subject instead, for example in`,
    ...places.slice(0, placesMax).map((place) => `  ${place}`),
  ]
}
