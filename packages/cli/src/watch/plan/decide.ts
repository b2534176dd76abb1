import type { FileState } from "../../files/folder-state.ts"
import type { Privacy, ValType } from "../../vals.ts"

/*
 * What is done about a val, by what three sides say of it: the *base* is what file and val were when they were last the same, as the folder has
 * noted it; the *file* is what is there now, the *val* what the server has. A file that is being written or cannot be read is no side: nothing is
 * done about its val before it can be.
 *
 *   base      file       val         what is done
 *   --------  ---------  ----------  --------------------------------------------------------------------------------------------
 *   none      –          there       write: the file is made
 *   none      there      –           create: the val is made
 *   none      there      the same    note
 *   none      there      another     conflict
 *   known     as it was  as it was   nothing
 *   known     as it was  changed     write: the file is replaced, and renamed with the val
 *   known     changed    as it was   save: only what has changed, and only if the val is still what was seen (If-Match)
 *   known     changed    the same    note: somebody did it twice, or it was done and not noted
 *   known     changed    elsewhere   save, and then write: code, name, privacy and type are compared one by one
 *   known     changed    otherwise   conflict: the file's text goes into a conflict file, which is never saved, and the val into the file
 *   known     –          as it was   leave: the val stays, and that is said once; with --delete: delete, after all its versions are in the trash
 *   left      –          as it was   nothing
 *   known     –          changed     write: whatever was changed is worth more than what was deleted
 *   known     as it was  –           trash: the file goes into .hamlet/trash
 *   known     changed    –           rescue: the file becomes a conflict file
 *   known     –          –           forget
 *
 * Whoever is interrupted between doing and noting finds file and val the same the next time, and notes it.
 */

/** What can differ between a file and its val. */
export interface ValFacts {
  readonly name: string
  readonly privacy: Privacy
  readonly type: ValType
  readonly codeHash: string
}

/** One of these. */
export type ValField = keyof ValFacts

/** What a file says: of privacy and type it may say nothing, and then agrees with everything. */
export type FileFacts = Pick<ValFacts, "name" | "codeHash"> & {
  readonly [Name in "privacy" | "type"]: ValFacts[Name] | undefined
}

/** The three sides of one val. */
export interface Sides {
  readonly base: FileState | undefined
  readonly file: (FileFacts & { readonly hash: string }) | undefined
  readonly val: (ValFacts & { readonly version: number }) | undefined
}

/** What is to be done. */
export type Decision =
  | {
      readonly kind:
        | "nothing"
        | "note"
        | "write"
        | "create"
        | "conflict"
        | "leave"
        | "delete"
        | "trash"
        | "rescue"
        | "forget"
    }
  | { readonly kind: "save"; readonly fields: readonly ValField[] }

/** The table above. */
export function decide({ base, file, val }: Sides, isDeleting: boolean): Decision {
  if (file && val) return decideBoth(base, file, val)
  if (file) return { kind: !base ? "create" : base.hash === file.hash ? "trash" : "rescue" }
  if (!val) return { kind: "forget" }
  if (!base || isMoved(base, val)) return { kind: "write" }
  if (base.isLeft) return { kind: "nothing" }
  return { kind: isDeleting ? "delete" : "leave" }
}

const fields: readonly ValField[] = ["codeHash", "name", "privacy", "type"]

function decideBoth(base: FileState | undefined, file: FileFacts, val: ValFacts): Decision {
  const changes = fields.map(
    (field) => [field, compareField(base?.[field], file[field], val[field])] as const,
  )
  const changed = (side: Side) => changes.filter(([, one]) => one === side).map(([field]) => field)
  if (changed("both").length > 0) return { kind: "conflict" }
  const saved = changed("file")
  if (saved.length > 0) return { kind: "save", fields: saved }
  return { kind: changed("val").length > 0 ? "write" : "note" }
}

type Side = "none" | "file" | "val" | "both"

/**
 * Who has changed it since the base. Where that is not known, whatever differs is taken for a
 * change of both.
 */
function compareField(base: string | undefined, file: string | undefined, val: string): Side {
  if (file === undefined || file === val) return "none"
  if (base === val) return "file"
  return base === file ? "val" : "both"
}

/** Whether a val is not any more what it was. What the base does not know is not compared. */
export function isMoved(
  base: FileState,
  val: Pick<ValFacts, "name" | "privacy" | "type"> & { readonly version: number },
): boolean {
  const { name = val.name, privacy = val.privacy, type = val.type } = base
  return (
    base.version !== val.version ||
    name !== val.name ||
    privacy !== val.privacy ||
    type !== val.type
  )
}
