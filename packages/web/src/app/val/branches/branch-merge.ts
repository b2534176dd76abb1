import { ApiError } from "@hamlet/contract/client"
import { signal } from "@preact/signals"
import { api } from "../../api.ts"
import { explain } from "../../data/explain.ts"
import {
  type ConflictState,
  type ConflictStates,
  isTouched,
  takeConflicts,
  toResolved,
} from "./merge-state.ts"
import type { ListedBranch } from "./use-branches.ts"

/** Which branches are merged. */
export interface MergePlan {
  readonly valId: string
  readonly branch: ListedBranch
  /** The branch that it was made from. */
  readonly parent: ListedBranch
  /** Which of the two gets the changes of the other. */
  readonly into: "parent" | "branch"
}

/** Where a merge is. */
export type MergeStep =
  /** The changes are looked at, again if a branch was saved meanwhile. */
  | { readonly kind: "review"; readonly hasMoved: boolean }
  /** Both branches have changed these files. */
  | { readonly kind: "conflicts"; readonly paths: readonly string[]; readonly count: number }
  | { readonly kind: "done"; readonly version: number; readonly isNewVersion: boolean }

/** A merge from the first look to its version. */
export type BranchMerge = ReturnType<typeof createBranchMerge>

/** Begins a merge. What the user types stays until it is merged, whatever fails. */
export function createBranchMerge(plan: MergePlan) {
  const { target, source } = toSides(plan)
  const names = { ours: target.name, theirs: source.name }
  const note = signal("")
  const step = signal<MergeStep>({ kind: "review", hasMoved: false })
  const states = signal<ConflictStates>(new Map())
  const failure = signal<string | undefined>(undefined)
  const foretold = signal<readonly string[]>([])
  const isBusy = signal(false)
  /** The versions that the user has seen: others are not merged. */
  const seen = signal({ target: target.version, source: source.version })
  const paths = () => {
    const at = step.peek()
    return at.kind === "conflicts" ? at.paths : []
  }
  const takeRefusal = (error: unknown): boolean => {
    if (!(error instanceof ApiError && error.merge)) return false
    const { conflicts, conflictCount } = error.merge
    states.value = takeConflicts(states.peek(), conflicts, names)
    // A response has the first conflicts that are not decided.
    const decided = paths()
    const all = [...new Set([...decided, ...conflicts.map(({ path }) => path)])]
    step.value = { kind: "conflicts", paths: all, count: decided.length + conflictCount }
    return true
  }
  /** A branch was saved meanwhile: its changes are shown before anything is merged. */
  const lookAgain = async () => {
    const now = toSides(await loadPlan(plan))
    seen.value = { target: now.target.version, source: now.source.version }
    step.value = { kind: "review", hasMoved: true }
  }
  const explainFailure = async (error: unknown) => {
    if (takeRefusal(error)) return
    if (!(error instanceof ApiError && error.code === "version_conflict")) throw error
    await lookAgain()
  }
  return {
    plan,
    names,
    note,
    step,
    states,
    failure,
    isBusy,
    seen,
    foretold,
    /** Finds out which files will conflict, before anything is sent. A failure says nothing. */
    async foretell(): Promise<void> {
      foretold.value = await findConflicts(plan, seen.peek())
    },
    /** Notes what becomes of a file. */
    decide(path: string, changes: Pick<ConflictState, "text" | "isDecided">): void {
      const known = states.peek().get(path)
      if (!known) return
      states.value = new Map([...states.peek(), [path, { ...known, ...changes, hasMoved: false }]])
    },
    /** Whether leaving would lose something that was typed or decided. */
    mayLose(): boolean {
      if (step.peek().kind === "done") return false
      return note.peek() !== "" || [...states.peek().values()].some((one) => isTouched(one, names))
    },
    /** Sends the merge with all decisions. Returns whether it is done. */
    async send(): Promise<boolean> {
      if (isBusy.peek()) return false
      isBusy.value = true
      failure.value = undefined
      try {
        const resolved = toResolved(paths(), states.peek())
        const saved = await sendMerge(plan, seen.peek(), resolved, note.peek().trim())
        step.value = { kind: "done", ...saved }
      } catch (error) {
        await explainFailure(error).catch((other: unknown) => {
          failure.value = explain(other)
        })
      } finally {
        isBusy.value = false
      }
      return step.peek().kind === "done"
    },
  }
}

/** The paths of files that conflict, as far as a merge that changes nothing can say. */
async function findConflicts(
  { valId, branch, into }: MergePlan,
  seen: { readonly target: number; readonly source: number },
): Promise<readonly string[]> {
  const ids = { val_id: valId, branch_id: branch.id }
  const input = { ...ids, into, sourceVersion: seen.source, dryRun: true }
  return api.mergeBranch(input, { ifMatch: seen.target }).then(
    () => [],
    (error: unknown) =>
      error instanceof ApiError ? (error.merge?.conflicts.map(({ path }) => path) ?? []) : [],
  )
}

function sendMerge(
  { valId, branch, into }: MergePlan,
  seen: { readonly target: number; readonly source: number },
  resolved: ReturnType<typeof toResolved>,
  note: string,
) {
  const ids = { val_id: valId, branch_id: branch.id }
  const input = { ...ids, into, resolved, sourceVersion: seen.source }
  return api.mergeBranch(note === "" ? input : { ...input, note }, { ifMatch: seen.target })
}

async function loadPlan(plan: MergePlan): Promise<MergePlan> {
  const load = ({ id }: ListedBranch) => api.getBranch({ val_id: plan.valId, branch_id: id })
  const [branch, parent] = await Promise.all([load(plan.branch), load(plan.parent)])
  return { ...plan, branch, parent }
}

function toSides({ branch, parent, into }: MergePlan) {
  return into === "parent" ? { target: parent, source: branch } : { target: branch, source: parent }
}
