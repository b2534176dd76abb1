import { hashReadme } from "../../files/readme-file.ts"

/*
 * What to do about a readme, decided from three sides. An empty and a missing readme are the same.
 * In doubt nothing is overwritten.
 *
 *   base      file       val        action
 *   --------  ---------  ---------  -----------------------------------------------------------------
 *   any       –          unchanged  note: the val keeps its readme
 *   any       –          changed    write: create the file
 *   any       exists     equal      note
 *   known     unchanged  changed    write, or trash if the val no longer has one
 *   any       emptied    changed    write: the file has nothing to lose
 *   known     changed    unchanged  save
 *   any       changed    none       save: a change outweighs a deletion
 *   any       changed    changed    conflict: the file's text goes to a conflict file, and the val's
 *                                   readme to the file
 */

/** The hashes of a readme on its three sides. */
export interface ReadmeSides {
  readonly base: string | undefined
  readonly file: string | undefined
  readonly val: string
}

/** What to do. */
export type ReadmeDecision = "note" | "write" | "trash" | "save" | "conflict"

const none = hashReadme(undefined)

/** Decides by the table above. */
export function decideReadme({ base, file, val }: ReadmeSides): ReadmeDecision {
  if (file === undefined) return val === none || val === base ? "note" : "write"
  if (file === val) return "note"
  if (file === base || (file === none && val !== base)) return val === none ? "trash" : "write"
  return val === none || val === base ? "save" : "conflict"
}
