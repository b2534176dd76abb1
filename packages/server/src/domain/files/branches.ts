import { limits } from "@hamlet/contract"
import type { Page, PageRequest } from "@hamlet/database/page"
import type { Caller } from "../access/caller.ts"
import { assertMayChange, valNotFound } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Retirer } from "../runs/retirement.ts"
import type { AssertVal, Val, Vals } from "../vals/vals.ts"

/** A line of versions of a val. `main` has the id of its val. */
export interface Branch {
  readonly id: string
  readonly valId: string
  readonly name: string
  /** Its newest version. */
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
  /** The branch it was made from; null for main, and when that was deleted. */
  readonly forkedFromId: string | null
  /** The entry file of its newest version. */
  readonly entryFileId: string | null
}

/** A branch with the val that it belongs to. */
export interface BranchOfVal {
  readonly val: Val
  readonly branch: Branch
}

/** A branch that begins with a copy of the files of another. */
export interface NewBranch {
  readonly id: string
  readonly valId: string
  readonly name: string
  readonly sourceId: string
}

/** Where branches are kept. Every method is atomic. */
export interface BranchStore {
  find(valId: string, branchId: string): Promise<Branch | undefined>
  /** All branches, in no order: a val has few. */
  list(valId: string): Promise<readonly Branch[]>
  /** Throws when the source does not exist, the name is taken, or the val has too many branches. */
  create(branch: NewBranch, assert: AssertVal, at: number): Promise<BranchOfVal | undefined>
  /** Deletes its versions and files too. */
  delete(valId: string, branchId: string, assert: AssertVal): Promise<"deleted" | "no_val" | "none">
}

/** The rules of branches. */
export type Branches = ReturnType<typeof createBranches>

/** Creates the rules of branches. Everyone who may see a val may see its branches. */
export function createBranches(
  store: BranchStore,
  vals: Vals,
  runner: Retirer,
  { newId, now }: Clock,
) {
  /** The branch with that id; main without one. */
  const get = async (
    caller: Caller | undefined,
    valId: string,
    branchId = valId,
  ): Promise<BranchOfVal> => {
    const val = await vals.get(caller, valId)
    const branch = await store.find(valId, branchId)
    if (!branch) throw branchNotFound(branchId)
    return { val, branch }
  }
  return {
    get,
    /** The branches of a val, `main` first, then in the order in which they were made. */
    async list(
      caller: Caller | undefined,
      valId: string,
      { offset, limit }: PageRequest,
    ): Promise<Page<BranchOfVal>> {
      const val = await vals.get(caller, valId)
      const all = [...(await store.list(valId))].sort(byAge)
      const items = all.slice(offset, offset + limit).map((branch) => ({ val, branch }))
      return { items, hasMore: all.length > offset + limit }
    },
    /** Makes a branch with a copy of the files of another, by default of main. */
    async create(
      caller: Caller,
      valId: string,
      { name, branchId = valId }: { readonly name: string; readonly branchId?: string | undefined },
    ): Promise<BranchOfVal> {
      const branch = { id: newId(), valId, name, sourceId: branchId }
      const created = await store.create(branch, (val) => assertMayChange(val, caller), now())
      if (!created) throw valNotFound(valId)
      return created
    },
    /** Deletes a branch with its versions and files. Its runs stay. */
    async delete(caller: Caller, valId: string, branchId: string): Promise<void> {
      const assert = (val: Val) => {
        assertMayChange(val, caller)
        if (branchId === valId)
          throw new AppError(
            "branch_is_default",
            "Cannot delete branch main: every val has it; delete the val instead",
          )
      }
      const result = await store.delete(valId, branchId, assert)
      if (result === "no_val") throw valNotFound(valId)
      if (result === "none") throw branchNotFound(branchId)
      runner.retire({ valId })
    },
  }
}

/** Ids ascend with time. */
function byAge(left: Branch, right: Branch): number {
  if (left.id === left.valId) return -1
  return right.id === right.valId || left.id > right.id ? 1 : -1
}

/** The error for a branch that a val does not have. */
export function branchNotFound(branchId: string): AppError {
  return new AppError("branch_not_found", `Cannot find branch "${branchId}" of this val`)
}

/** The error for a name that another branch has. */
export function branchExists(name: string): AppError {
  return new AppError(
    "branch_exists",
    `Cannot create branch "${name}": the val has one of that name`,
  )
}

/** The error for a branch too many. */
export function tooManyBranches(): AppError {
  return new AppError(
    "val_full",
    `Cannot create a branch: a val may have ${limits.branchesPerValMax}; delete one first`,
  )
}

/** The error for a branch that belongs to no other. */
export function branchHasNoParent({ name }: Pick<Branch, "name">): AppError {
  return new AppError(
    "branch_has_no_parent",
    `Cannot merge branch ${name}: it was made from no other branch, or that was deleted`,
  )
}
