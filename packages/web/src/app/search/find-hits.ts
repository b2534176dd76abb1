/** A line in which something was found, cut into what was found and what is around it. */
export interface HitLine {
  readonly number: number
  readonly parts: readonly { readonly text: string; readonly isHit: boolean }[]
}

const limits = { linesMax: 3, charsMax: 200, charsBefore: 60 }

/** The first lines of a text that have the words in them, ignoring case. */
export function findHitLines(text: string, query: string): readonly HitLine[] {
  const lines: HitLine[] = []
  let number = 0
  for (const line of text.split("\n")) {
    number += 1
    const parts = markHits(cutAround(line, query), query)
    if (parts.some(({ isHit }) => isHit)) lines.push({ number, parts })
    if (lines.length === limits.linesMax) break
  }
  return lines
}

/** A text cut at each place where the words are. */
export function markHits(text: string, query: string): HitLine["parts"] {
  const wanted = query.toLowerCase()
  const folded = text.toLowerCase()
  // Lower case can be longer than what it is of: then places cannot be carried over, and nothing is
  // marked.
  if (wanted === "" || folded.length !== text.length) return [{ text, isHit: false }]
  const parts: { text: string; isHit: boolean }[] = []
  let from = 0
  for (let at = folded.indexOf(wanted); at >= 0; at = folded.indexOf(wanted, from)) {
    if (at > from) parts.push({ text: text.slice(from, at), isHit: false })
    from = at + wanted.length
    parts.push({ text: text.slice(at, from), isHit: true })
  }
  if (from < text.length) parts.push({ text: text.slice(from), isHit: false })
  return parts
}

function cutAround(line: string, query: string): string {
  const at = line.toLowerCase().indexOf(query.toLowerCase())
  const from = Math.max(0, at - limits.charsBefore)
  const cut = line.slice(from, from + limits.charsMax)
  return `${from > 0 ? "…" : ""}${cut}${from + limits.charsMax < line.length ? "…" : ""}`
}
