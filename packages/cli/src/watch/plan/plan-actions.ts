import { type Client, unlessMissing } from "@hamlet/contract/client"
import { isValName } from "../../files/front-matter.ts"
import { hashText } from "../../files/val-file.ts"
import { limits } from "../../limits.ts"
import type { Val } from "../../names/find-val.ts"
import type { Action } from "../actions/action.ts"
import type { RoundDeps } from "../perform-steps.ts"
import { type Decision, decide, isMoved } from "./decide.ts"
import type { Match } from "./match-sides.ts"

/** Dependencies of planning. */
export interface PlanDeps extends RoundDeps {
  readonly client: Client
  /** The id of the vals' owner. */
  readonly owner: string
  readonly isDeleting: boolean
}

/** Decides what to do about every match, fetching the vals it needs, and sorts the actions. */
export async function planActions(
  deps: PlanDeps,
  matches: readonly Match[],
): Promise<readonly Action[]> {
  const actions: Action[] = []
  for (let index = 0; index < matches.length; ) {
    // Only matches that need a request count: an unchanged folder costs none.
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
  const pending = actions.filter(({ decision }) => decision.kind !== "nothing")
  const sorted = pending.sort(
    (one, other) => order.indexOf(one.decision.kind) - order.indexOf(other.decision.kind),
  )
  const deletions = sorted.filter(({ decision }) => decision.kind === "delete")
  if (deletions.length <= limits.watchDeletionsMax) return sorted
  return sorted.map((action) =>
    action.decision.kind === "delete" ? { ...action, decision: { kind: "leave" } } : action,
  )
}

/** Fetches the vals that some actions still need, all at once. */
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

/** Vals that free a name come first; actions on files only come last. */
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

/** Whether the val must be fetched to decide: its code may have changed, or it may be deleted. */
function isUnsure({ base, file, val }: Match): boolean {
  if (!val) return base !== undefined
  // The only action is to write the file, and the val is fetched then: there may be thousands of
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
        text: `Cannot watch "${file.path}": its val belongs to another user`,
      })
    return undefined
  }
  // The val was just deleted; the next round handles that.
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

/** The current val, "foreign" if it belongs to another user. */
async function findOwnVal(
  { client, owner }: PlanDeps,
  id: string,
): Promise<Val | "foreign" | undefined> {
  const val = await unlessMissing(client.getVal({ val_id: id }))
  // The name comes from the server and becomes a path: it must not lead outside the folder.
  return !val || (val.author.id === owner && isValName(val.name)) ? val : "foreign"
}
