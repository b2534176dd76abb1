import { hashReadme } from "../../files/readme-file.ts"

/*
 * What is done about a readme, by what three sides say of it. A readme that is empty and none at all are the
 * same. Readmes have no versions: what is saved over is lost, so that in doubt nothing is.
 *
 *   base      file       val         what is done
 *   --------  ---------  ----------  ----------------------------------------------------------------------
 *   any       –          as it was   note: the val keeps what it has
 *   any       –          changed     write: the file is made
 *   any       there      the same    note
 *   known     as it was  changed     write, or trash if the val has none any more
 *   any       emptied    changed     write: the file has nothing to lose
 *   known     changed    as it was   save
 *   any       changed    none        save: what was changed is worth more than what was deleted
 *   any       changed    otherwise   conflict: what the file had is kept beside it, and the val goes into it
 */

/** The hashes of a readme on its three sides. */
export interface ReadmeSides {
  readonly base: string | undefined
  readonly file: string | undefined
  readonly val: string
}

/** What is to be done. */
export type ReadmeDecision = "note" | "write" | "trash" | "save" | "conflict"

const none = hashReadme(undefined)

/** The table above. */
export function decideReadme({ base, file, val }: ReadmeSides): ReadmeDecision {
  if (file === undefined) return val === none || val === base ? "note" : "write"
  if (file === val) return "note"
  if (file === base || (file === none && val !== base)) return val === none ? "trash" : "write"
  return val === none || val === base ? "save" : "conflict"
}
