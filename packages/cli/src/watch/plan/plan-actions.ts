import { ApiError, type Client } from "@hamlet/contract/client"
import { isValName } from "../../files/front-matter.ts"
import { hashText } from "../../files/val-file.ts"
import { limits } from "../../limits.ts"
import type { Val } from "../../names/find-val.ts"
import type { Action } from "../actions/action.ts"
import type { SyncEvent } from "../sync-event.ts"
import { type Decision, decide, isMoved } from "./decide.ts"
import type { Match } from "./match-sides.ts"

/** What deciding needs. */
export interface PlanDeps {
  readonly client: Client
  /** The id of whoever the vals belong to. */
  readonly owner: string
  readonly isDeleting: boolean
  report(event: SyncEvent): void
  /** Whether somebody wants it to end. */
  isStopping(): boolean
}

/**
 * Decides about everything, after asking the server for what cannot be decided without. What is to
 * be done first comes first.
 */
export async function planActions(
  deps: PlanDeps,
  matches: readonly Match[],
): Promise<readonly Action[]> {
  const actions: Action[] = []
  for (let index = 0; index < matches.length; ) {
    // Only what has to be asked for counts: a folder in which nothing has changed costs no request.
    const begin = index
    for (let fetches = 0; index < matches.length && fetches < limits.watchFetchesMax; index++)
      fetches += isUnsure(matches[index] as Match) ? 1 : 0
    const batch = matches.slice(begin, index)
    actions.push(
      ...(await Promise.all(batch.map((match) => toAction(deps, match)))).filter(
        (action) => action !== undefined,
      ),
    )
    if (deps.isStopping()) return []
  }
  const wanted = actions.filter(({ decision }) => decision.kind !== "nothing")
  const sorted = wanted.sort(
    (one, other) => order.indexOf(one.decision.kind) - order.indexOf(other.decision.kind),
  )
  const deletions = sorted.filter(({ decision }) => decision.kind === "delete")
  if (deletions.length <= limits.watchDeletionsMax) return sorted
  return sorted.map((action) =>
    action.decision.kind === "delete" ? { ...action, decision: { kind: "leave" } } : action,
  )
}

/** The vals that are still to be fetched for some actions, all at once. */
export async function fetchActionVals(
  deps: PlanDeps,
  actions: readonly Action[],
): Promise<readonly Action[]> {
  return Promise.all(
    actions.map(async (action) => {
      if (action.val || action.decision.kind !== "write" || !action.match.val) return action
      const val = await findOwnVal(deps, action.match.val.id)
      return { ...action, val: val === "foreign" ? undefined : val }
    }),
  )
}

/** The val goes first that gives a name free; what only concerns files comes last. */
const order: readonly Decision["kind"][] = [
  "forget",
  "note",
  "delete",
  "trash",
  "rescue",
  "save",
  "create",
  "conflict",
  "write",
  "leave",
]

/**
 * Whether the server has to be asked before anything can be decided: its code may be another, or it
 * may be gone.
 */
function isUnsure({ base, file, val }: Match): boolean {
  if (!val) return base !== undefined
  // There is only one thing to do, and it is fetched when that is done: there may be thousands of
  // them.
  if (!base && !file) return false
  const isVague = base && [base.codeHash, base.name, base.privacy, base.type].includes(undefined)
  return !base || isMoved(base, val) || (file !== undefined && isVague === true)
}

async function toAction(deps: PlanDeps, match: Match): Promise<Action | undefined> {
  const { base, file } = match
  const val = isUnsure(match) ? await findOwnVal(deps, match.val?.id ?? base?.id ?? "") : undefined
  if (val === "foreign") {
    if (file)
      deps.report({
        action: "problem",
        file: file.path,
        text: `Cannot watch "${file.path}": its val belongs to somebody else`,
      })
    return undefined
  }
  // It was there a moment ago: the next look tells what has become of it.
  if (match.val && isUnsure(match) && !val) return undefined
  const seen = val ?? match.val
  const codeHash = val ? hashText(val.code) : base?.codeHash
  const side = seen && { ...seen, codeHash: codeHash ?? "" }
  return {
    match: { ...match, val: seen },
    decision: decide({ base, file, val: side }, deps.isDeleting),
    val,
  }
}

/** The val as it is at this moment; one that somebody else has is none of ours. */
async function findOwnVal(
  { client, owner }: PlanDeps,
  id: string,
): Promise<Val | "foreign" | undefined> {
  try {
    const val = await client.getVal({ val_id: id })
    // A name becomes a path: whatever answers there, nothing is written outside of the folder.
    return val.author.id === owner && isValName(val.name) ? val : "foreign"
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}
