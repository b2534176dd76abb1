import type { ApiError, Input } from "@hamlet/contract/client"
import { createMarks, findMarkedConflicts, toMarkedText } from "./conflict-marks.ts"
import { mergeTexts } from "./merge-texts.ts"

/** The conflicts of a refused merge. */
export type MergeConflicts = NonNullable<ApiError["merge"]>

/** A file that both branches have changed; null where there is no file. */
export type Conflict = MergeConflicts["conflicts"][number]

/** A conflict, and what the user has made of it. */
export interface ConflictState {
  readonly conflict: Conflict
  /** What the file will contain; null if there will be none. */
  readonly text: string | null
  readonly isDecided: boolean
  /** The branches have changed since the text was typed: it needs another look. */
  readonly hasMoved: boolean
}

/** What is known about the conflicts of a merge, by path. */
export type ConflictStates = ReadonlyMap<string, ConflictState>

/** The names of the branches: `ours` gets the changes of `theirs`. */
export interface MergeNames {
  readonly ours: string
  readonly theirs: string
}

/**
 * The states after a merge was refused. What was typed stays: a decision holds for the same texts, and
 * is asked for again if one of them has changed.
 */
export function takeConflicts(
  before: ConflictStates,
  conflicts: readonly Conflict[],
  names: MergeNames,
): ConflictStates {
  const fresh = conflicts.map((conflict): [string, ConflictState] => {
    const known = before.get(conflict.path)
    if (!known) return [conflict.path, toNew(conflict, names)]
    const isSame = (["base", "ours", "theirs"] as const).every(
      (side) => known.conflict[side] === conflict[side],
    )
    if (isSame) return [conflict.path, known]
    // A text with nothing typed in it is replaced by what the branches have now.
    if (!isTouched(known, names)) return [conflict.path, toNew(conflict, names)]
    return [conflict.path, { conflict, text: known.text, isDecided: false, hasMoved: true }]
  })
  return new Map([...before, ...fresh])
}

/** Whether the user has typed or decided something about a conflict. */
export function isTouched(state: ConflictState, names: MergeNames): boolean {
  return state.isDecided || state.text !== toFirstText(state.conflict, names)
}

/** Starts with all changes that do not conflict, and marks around those that do. */
function toNew(conflict: Conflict, names: MergeNames): ConflictState {
  return { conflict, text: toFirstText(conflict, names), isDecided: false, hasMoved: false }
}

function toFirstText(conflict: Conflict, names: MergeNames): string | null {
  const { base, ours, theirs } = conflict
  // One side has deleted the file: the text of the other is the only one.
  if (ours === null || theirs === null) return ours ?? theirs
  return toMarkedText(mergeTexts(base ?? "", ours, theirs), marksOf(conflict, names))
}

/** The marks around the conflicts in the text of a file. */
function marksOf({ base, ours, theirs }: Conflict, names: MergeNames) {
  return createMarks(names, [base ?? "", ours ?? "", theirs ?? ""])
}

/** The conflicts that the text of a file still contains. */
export function listOpen({ conflict, text }: ConflictState, names: MergeNames) {
  return text === null ? [] : findMarkedConflicts(text, marksOf(conflict, names))
}

type Resolved = NonNullable<Input<"mergeBranch">["resolved"]>

/** The decisions as they are sent. */
export function toResolved(paths: readonly string[], states: ConflictStates): Resolved {
  return paths.flatMap((path): Resolved => {
    const state = states.get(path)
    if (!state?.isDecided) return []
    return state.text === null ? [{ path, delete: true }] : [{ path, content: state.text }]
  })
}
