import { mergeParts } from "@hamlet/contract/merge-lines"
import { limits } from "../limits.ts"

/** What both branches have made of a file; null where it does not exist. */
export interface ConflictTexts {
  readonly base: string | null
  readonly ours: string | null
  readonly theirs: string | null
}

/** The branches, as the markers name them. */
export interface SideNames {
  readonly ours: string
  readonly theirs: string
}

/**
 * The text with the changes of both sides, and where they conflict, both of them between the markers
 * that Git writes.
 */
export function toMarkedText({ base, ours, theirs }: ConflictTexts, names: SideNames): string {
  const end = /\r\n/.test(ours ?? theirs ?? "") ? "\r\n" : "\n"
  const [first, middle, last] = toMarkers(names)
  const mark = (one: string, other: string) =>
    [first, end, close(one, end), middle, end, close(other, end), last, end].join("")
  if (ours === null || theirs === null) return mark(ours ?? "", theirs ?? "")
  const { parts } = mergeParts({ base: base ?? "", ours, theirs }, limits.mergeEditsMax)
  const marked = parts.map((part) => (part.isConflict ? mark(part.ours, part.theirs) : part.text))
  // The files conflict in more than their lines: one was moved, or there was none before.
  return parts.some(({ isConflict }) => isConflict) ? marked.join("") : mark(ours, theirs)
}

/** Whether a text still has one of the markers. */
export function hasMarkers(text: string, names: SideNames): boolean {
  const markers = new Set(toMarkers(names))
  const [, middle] = toMarkers(names)
  // The line between both sides is also a heading in Markdown.
  markers.delete(middle)
  return text.split(/\r?\n/).some((line) => markers.has(line))
}

function toMarkers({ ours, theirs }: SideNames): readonly [string, string, string] {
  return [`<<<<<<< ${ours}`, "=======", `>>>>>>> ${theirs}`]
}

/** A marker needs a line of its own, also after a last line without an end. */
function close(text: string, end: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}${end}`
}
