import { mergeParts } from "@hamlet/contract/merge-lines"

/** A stretch of a merged text: lines that both sides agree on, or what each side has instead. */
export type Segment =
  | { readonly kind: "agreed"; readonly lines: readonly string[] }
  | {
      readonly kind: "conflict"
      readonly ours: readonly string[]
      readonly theirs: readonly string[]
    }

const limits = {
  /** A comparison takes the square of it, and the page waits. Beyond, all is one change. */
  editsMax: 1_000,
}

/** Merges two texts that were made from one, as the server does, and shows what it refuses. */
export function mergeTexts(base: string, ours: string, theirs: string): readonly Segment[] {
  // Each line has an end, so that it is the same line at the end of a text.
  const texts = { base: `${base}\n`, ours: `${ours}\n`, theirs: `${theirs}\n` }
  return mergeParts(texts, limits.editsMax)
    .parts.map(
      (part): Segment =>
        part.isConflict
          ? { kind: "conflict", ours: toLines(part.ours), theirs: toLines(part.theirs) }
          : { kind: "agreed", lines: toLines(part.text) },
    )
    .filter((segment) => segment.kind === "conflict" || segment.lines.length > 0)
}

function toLines(text: string): readonly string[] {
  return text === "" ? [] : text.slice(0, -1).split("\n")
}
