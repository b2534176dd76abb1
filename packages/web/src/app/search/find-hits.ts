/** A matching line, split into matches and the text around them. */
export interface HitLine {
  readonly number: number
  readonly parts: readonly { readonly text: string; readonly isHit: boolean }[]
}

const limits = { linesMax: 3, charsMax: 200, charsBefore: 60 }

/** The first lines of a text that contain the query, ignoring case. */
export function findHitLines(text: string, query: string): readonly HitLine[] {
  const lines: HitLine[] = []
  let number = 0
  for (const line of text.split("\n")) {
    number += 1
    const parts = markHits(excerptAround(line, query), query)
    if (parts.some(({ isHit }) => isHit)) lines.push({ number, parts })
    if (lines.length === limits.linesMax) break
  }
  return lines
}

/** Splits a text at each match. */
export function markHits(text: string, query: string): HitLine["parts"] {
  const needle = query.toLowerCase()
  const folded = text.toLowerCase()
  // Lower case may have another length: then positions do not match, and nothing is marked.
  if (needle === "" || folded.length !== text.length) return [{ text, isHit: false }]
  const parts: { text: string; isHit: boolean }[] = []
  let from = 0
  for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, from)) {
    if (at > from) parts.push({ text: text.slice(from, at), isHit: false })
    from = at + needle.length
    parts.push({ text: text.slice(at, from), isHit: true })
  }
  if (from < text.length) parts.push({ text: text.slice(from), isHit: false })
  return parts
}

function excerptAround(line: string, query: string): string {
  const at = line.toLowerCase().indexOf(query.toLowerCase())
  const from = Math.max(0, at - limits.charsBefore)
  const excerpt = line.slice(from, from + limits.charsMax)
  return `${from > 0 ? "…" : ""}${excerpt}${from + limits.charsMax < line.length ? "…" : ""}`
}
