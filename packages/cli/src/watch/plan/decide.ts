import type { FileState } from "../../files/folder-state.ts"
import type { Privacy, ValType } from "../../vals.ts"

/*
 * What to do about a val, decided from three sides. The *base* is the state in which file and val
 * last agreed, as the folder recorded it; the *file* and the *val* are their current states. A file
 * that is being written or cannot be read is not decided about.
 *
 *   base      file       val        action
 *   --------  ---------  ---------  -----------------------------------------------------------------
 *   none      –          exists     write: create the file
 *   none      exists     –          create: create the val
 *   none      exists     equal      note
 *   none      exists     different  conflict
 *   known     unchanged  unchanged  nothing
 *   known     unchanged  changed    write: replace the file, and rename it with the val
 *   known     changed    unchanged  save: only the changed fields, guarded by If-Match
 *   known     changed    equal      note: the same change twice, or one that was not recorded
 *   known     changed    changed    save, then write, if the changed fields differ; code, name,
 *                                   privacy and type are compared one by one
 *   known     changed    changed    conflict, if a field changed on both sides: the file's text goes
 *                                   to a conflict file, which is never saved, and the val to the file
 *   known     –          unchanged  leave: keep the val, and report it once; with --delete: delete,
 *                                   after all versions are in the trash
 *   left      –          unchanged  nothing
 *   known     –          changed    write: a change outweighs a deletion
 *   known     unchanged  –          trash: move the file to .hamlet/trash
 *   known     changed    –          rescue: the file becomes a conflict file
 *   known     –          –          forget
 *
 * If the watcher is interrupted between an action and its record, the next round finds file and val
 * equal and records that.
 */

/** The fields in which a file and its val can differ. */
export interface ValFacts {
  readonly name: string
  readonly privacy: Privacy
  readonly type: ValType
  readonly codeHash: string
}

/** One of these fields. */
export type ValField = keyof ValFacts

/** The fields of a file. Privacy and type are optional, and then match any value. */
export type FileFacts = Pick<ValFacts, "name" | "codeHash"> & {
  readonly [Name in "privacy" | "type"]: ValFacts[Name] | undefined
}

/** The three sides of one val. */
export interface Sides {
  readonly base: FileState | undefined
  readonly file: (FileFacts & { readonly hash: string }) | undefined
  readonly val: (ValFacts & { readonly version: number }) | undefined
}

/** What to do. */
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

/** Decides by the table above. */
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
 * Which side changed a field since the base. If the base lacks it, any difference counts as a
 * change on both sides.
 */
function compareField(base: string | undefined, file: string | undefined, val: string): Side {
  if (file === undefined || file === val) return "none"
  if (base === val) return "file"
  return base === file ? "val" : "both"
}

/** Whether a val differs from the base. Fields that the base lacks are not compared. */
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
