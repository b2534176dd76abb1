import { isValName } from "../files/front-matter.ts"
import { isSameName } from "../watch/paths.ts"
import type { KnownVal } from "./account-state.ts"
import type { ValState } from "./remote-vals.ts"

/*
 * What to do about each val of an account, decided from three sides. The *base* is what the folder of
 * the account recorded, the *folder* is that of the val, and the *val* is in the list of the server.
 * What is in the folder of a val is decided in checkout/plan-tree.ts.
 *
 *   base   folder   val        step
 *   -----  -------  ---------  ----------------------------------------------------------------------
 *   any    exists   exists     sync
 *   known  exists   renamed    move: rename the folder, if it was named after the val
 *   known  renamed  same name  rename: rename the val, if the folder was named after it
 *   any    new      exists     adopt: the new folder becomes that of the val with its name
 *   none   new      –          create
 *   none   –        exists     write
 *   known  –        unchanged  leave: keep the val, and report it once; with --delete: delete, after
 *                              all versions are in the trash
 *   left   –        unchanged  nothing
 *   known  –        changed    write: a change outweighs a deletion
 *   known  exists   –          discard: the folder moves to the trash, or becomes a conflict folder
 *   known  –        –          forget
 *   none   exists   –          ask: the val was deleted, or belongs to another user
 *
 * If the program is interrupted between a step and its record, the next round finds the folder of the
 * val, and records it.
 */

/** What to do about one val. */
export type AccountStep =
  | { readonly kind: "sync" | "move" | "rename"; readonly folder: string; readonly val: ValState }
  | { readonly kind: "adopt"; readonly folder: string; readonly val: ValState }
  | { readonly kind: "write"; readonly val: ValState }
  | { readonly kind: "leave" | "delete"; readonly base: KnownVal; readonly val: ValState }
  | { readonly kind: "create"; readonly folder: string }
  | { readonly kind: "discard"; readonly folder: string; readonly id: string }
  | { readonly kind: "forget"; readonly id: string }
  | { readonly kind: "ask"; readonly folder: string; readonly id: string }

/** The three sides of an account. */
export interface AccountSides {
  readonly known: ReadonlyMap<string, KnownVal>
  /** The names of the folders of vals, by the id of the val. */
  readonly checkouts: ReadonlyMap<string, string>
  /** New folders that can become vals, and those that are still being written. */
  readonly fresh: readonly string[]
  readonly unsettled: ReadonlySet<string>
  /** The ids of recorded vals whose folder has been missing for a while. */
  readonly missing: ReadonlySet<string>
  readonly vals: readonly ValState[]
  /** Whether there are more vals than listed: one that is missing may still exist. */
  readonly hasMore: boolean
}

/** A plan, and the folders that nothing can be done about, with the reason. */
export interface AccountPlan {
  readonly steps: readonly AccountStep[]
  readonly problems: ReadonlyMap<string, string>
}

/** Decides by the table above. */
export function planAccount(sides: AccountSides, isDeleting: boolean): AccountPlan {
  const { known, checkouts, missing, unsettled, hasMore } = sides
  const ids = new Set(sides.vals.map(({ id }) => id))
  const fresh = new Map(sides.fresh.map((folder) => [folder.toLowerCase(), folder]))
  const problems = new Map<string, string>()
  const steps: AccountStep[] = []
  for (const val of sides.vals) {
    const base = known.get(val.id)
    const folder = checkouts.get(val.id)
    const made = fresh.get(val.name.toLowerCase())
    fresh.delete(val.name.toLowerCase())
    if (folder !== undefined) {
      steps.push(decideBoth(base, folder, val))
      if (made !== undefined) problems.set(made, toTaken(made, folder))
    } else if (made !== undefined) {
      if (!unsettled.has(made)) steps.push({ kind: "adopt", folder: made, val })
    } else if (!base) steps.push({ kind: "write", val })
    else if (missing.has(val.id)) steps.push(...decideMissing(base, val, isDeleting))
  }
  for (const [id, folder] of hasMore ? [] : checkouts)
    if (!ids.has(id)) steps.push({ kind: known.has(id) ? "discard" : "ask", folder, id })
  for (const id of hasMore ? [] : known.keys())
    if (!ids.has(id) && missing.has(id)) steps.push({ kind: "forget", id })
  for (const folder of hasMore ? [] : fresh.values())
    if (!unsettled.has(folder)) steps.push({ kind: "create", folder })
  return { steps: sort(steps), problems }
}

function decideBoth(base: KnownVal | undefined, folder: string, val: ValState): AccountStep {
  if (base && base.name !== val.name) {
    const isNamedAfter = isSameName(folder, base.name) && !isSameName(folder, val.name)
    if (isNamedAfter) return { kind: "move", folder, val }
  } else if (base && isSameName(base.folder, val.name) && !isSameName(folder, val.name)) {
    if (isValName(folder)) return { kind: "rename", folder, val }
  }
  return { kind: "sync", folder, val }
}

function decideMissing(base: KnownVal, val: ValState, isDeleting: boolean): readonly AccountStep[] {
  if (base.version !== val.version || base.name !== val.name) return [{ kind: "write", val }]
  if (base.isLeft) return []
  return [{ kind: isDeleting ? "delete" : "leave", base, val }]
}

/** Steps that free a name come first. */
function sort(steps: readonly AccountStep[]): readonly AccountStep[] {
  return [...steps].sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind))
}

const order: readonly AccountStep["kind"][] = [
  "forget",
  "delete",
  "discard",
  "move",
  "rename",
  "create",
  "adopt",
  "sync",
  "write",
  "leave",
  "ask",
]

function toTaken(folder: string, other: string): string {
  return `Cannot watch "${folder}": "${other}" is already the folder of the val with that name`
}
