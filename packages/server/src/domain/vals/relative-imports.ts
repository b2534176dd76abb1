import { limits } from "@hamlet/contract"
import { AppError } from "../app-error.ts"
import { parseImportAddress } from "../modules/import-address.ts"
import type { Resolution } from "../modules/lockfiles.ts"
import { toTextHash } from "../modules/text-hash.ts"
import type { Sources } from "./val-source.ts"
import type { Val } from "./vals.ts"

/** A replaced part of code: `start` and `end` are offsets before any edit. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Code with other specifiers. */
interface RewrittenCode {
  readonly code: string
  readonly edits: readonly Edit[]
  /** The new specifiers, by the old ones. */
  readonly renamed: ReadonlyMap<string, string>
}

/** As many different specifiers are read as are stored with a version. */
const parsedMax = 1_000

/** A literal that begins like a relative import of a val of the same owner. */
const candidatePattern = /(?<=["'`])\.\//g

/**
 * Makes `./lib` in code of Ada's mean Ada's val in code of another user: `../ada/lib`. The parser
 * reports specifiers without their positions, and the same text may be in a string or a comment. So
 * each candidate gets a marker with its number, and the markers that the parser reports are imports.
 */
export async function rewriteRelativeImports(
  { parser, importHosts }: Pick<Sources, "parser" | "importHosts">,
  { code, name, ownerName }: Pick<Val, "code" | "name" | "ownerName">,
  userId: string,
): Promise<RewrittenCode> {
  const starts = Array.from(code.matchAll(candidatePattern), ({ index }) => index)
  if (starts.length === 0) return { code, edits: [], renamed: new Map() }
  const marker = chooseMarker(code)
  const marked = applyEdits(
    code,
    starts.map((start, index) => ({ start, end: start + 2, text: `${marker}${index}/` })),
  )
  const edits: Edit[] = []
  const renamed = new Map<string, string>()
  const importer = { username: ownerName, name }
  let parsed = 0
  for (const specifier of await parser.scanImports(marked, userId)) {
    if (!specifier.startsWith(marker)) continue
    const [index = "", ...rest] = specifier.slice(marker.length).split("/")
    const start = starts[Number(index)]
    const before = `./${rest.join("/")}`
    if (!renamed.has(before)) {
      parsed += 1
      if (parsed > parsedMax || !parseImportAddress(before, importHosts, importer)) continue
    }
    if (start === undefined) continue
    edits.push({ start, end: start + 2, text: `../${ownerName}/` })
    renamed.set(before, `../${ownerName}/${rest.join("/")}`)
  }
  const rewritten = applyEdits(code, edits)
  if (rewritten.length > limits.codeCharsMax)
    throw new AppError(
      "invalid_request",
      `Cannot fork val "${name}": with the addresses of what it imports, its code has more than ${limits.codeCharsMax} characters`,
    )
  return { code: rewritten, edits, renamed }
}

/** The packages of code that was edited: the places of their specifiers move with the text. */
export function moveResolution(
  resolution: Resolution,
  code: string,
  edits: readonly Edit[],
): Resolution {
  if (edits.length === 0) return resolution
  const move = createMove(edits)
  const before = toTextHash(code)
  const after = toTextHash(applyEdits(code, edits))
  return {
    ...resolution,
    ...(resolution.files && {
      files: resolution.files.map(
        ([path, text]) => [path, text === before ? after : text] as const,
      ),
    }),
    imports: resolution.imports.map((one) => ({
      ...one,
      places: one.places.map((place) => {
        if (place.text !== undefined && place.text !== before) return place
        const moved = { start: move(place.start), end: move(place.end) }
        return place.text === undefined ? moved : { text: after, ...moved }
      }),
    })),
  }
}

/** Where an offset is after the edits. Hostile code may have ten thousand of both. */
function createMove(edits: readonly Edit[]): (offset: number) => number {
  const sorted = edits.toSorted((left, right) => left.start - right.start)
  let sum = 0
  const sums = [0, ...sorted.map(({ start, end, text }) => (sum += text.length - (end - start)))]
  return (offset) => {
    let [low, high] = [0, sorted.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sorted[middle]?.start ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return offset + (sums[low] ?? 0)
  }
}

/** A prefix of specifiers that the code does not contain. */
function chooseMarker(code: string): string {
  let marker = "hamlet-import-"
  while (code.includes(marker)) marker = `hamlet-import-${crypto.randomUUID()}-`
  return marker
}

/** Applies edits that do not overlap. */
export function applyEdits(code: string, edits: readonly Edit[]): string {
  const parts: string[] = []
  let from = 0
  for (const { start, end, text } of edits.toSorted((left, right) => left.start - right.start)) {
    parts.push(code.slice(from, start), text)
    from = end
  }
  return [...parts, code.slice(from)].join("")
}
