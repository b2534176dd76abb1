import { existsSync } from "node:fs"
import { join } from "node:path"
import { ApiError, type Input, type Output, unlessMissing } from "@hamlet/contract/client"
import type { Checkout } from "../checkout/checkout-state.ts"
import { assertPlainParents, removeEmptyParents } from "../checkout/local-paths.ts"
import { createTreeDeps, type OpenCheckout } from "../checkout/open-checkout.ts"
import { isValStep } from "../checkout/plan-tree.ts"
import { createFetchText } from "../checkout/remote-tree.ts"
import {
  type ComparedTree,
  compareFolder,
  type PulledTree,
  pullTree,
  type TreeDeps,
} from "../checkout/sync-tree.ts"
import { CliError } from "../cli-error.ts"
import type { Context } from "../context.ts"
import { isVersionConflict } from "../failure.ts"
import { hashText, readText } from "../files/val-file.ts"
import { withLockedFolder } from "../watch/lock-folder.ts"
import { makeFile, moveToTrash, replaceFile, writeConflictFile } from "../watch/replace-file.ts"
import {
  type Conflict,
  fetchConflicts,
  mergeTaking,
  type Side,
  toConflictError,
} from "./conflicts.ts"
import { hasMarkers, toMarkedText } from "./mark-conflicts.ts"
import {
  assertNotMerging,
  findMerge,
  type MergeState,
  removeMerge,
  saveMerge,
} from "./merge-state.ts"

/** A merge into the branch that a folder has. */
export type FolderMerge = Pick<MergeState, "branchId" | "into" | "ours" | "theirs" | "note">

/** The result of a merge, and of writing it to the folder. */
export interface MergedFolder {
  readonly merged: Output<"mergeBranch">
  readonly pulled: PulledTree
}

/**
 * Merges on the server, and writes the result to the folder. In conflicts nothing is saved: the files
 * get the texts of both sides, until `continueMerge` or `abortMerge`.
 */
export async function mergeIntoFolder(
  context: Context,
  open: OpenCheckout,
  merge: FolderMerge,
  take: Side | undefined,
): Promise<MergedFolder> {
  return withFolder(context, open, async (deps) => {
    assertNotMerging(open.folder)
    const compared = await compareFolder(deps)
    assertSaved(compared)
    const { checkout } = await pullTree(deps, compared, false)
    const input = toInput(checkout, merge)
    const { version } = compared.remote
    try {
      return await finishMerge(deps, open, () =>
        take === undefined
          ? deps.client.mergeBranch(input, { ifMatch: version })
          : mergeTaking(deps.client, input, take, ""),
      )
    } catch (error) {
      const found = error instanceof ApiError ? error.merge : undefined
      if (!found) throw error
      const conflicts = await fetchConflicts(deps.client, input, found)
      writeConflicts(open.folder, checkout, conflicts, {
        ...merge,
        version: found.version,
        sourceVersion: found.sourceVersion,
        files: conflicts.map(toFile),
        isWritten: false,
      })
      const advice =
        'edit the files, or delete them, and run "hamlet branch merge --continue"; "hamlet branch merge --abort" gives up'
      throw toConflictError(error, found, advice)
    }
  })
}

/** Sends the decisions, which the files contain. */
export async function continueMerge(
  context: Context,
  open: OpenCheckout,
  note: string | undefined,
): Promise<MergedFolder & { readonly state: MergeState }> {
  return withFolder(context, open, async (deps) => {
    const { folder, checkout } = open
    const state = getMerge(folder)
    if (!state.isWritten)
      throw new CliError(
        "conflict",
        "Cannot continue: the merge was interrupted at its beginning",
        {
          advice: 'run "hamlet branch merge --abort", and merge again',
        },
      )
    const texts = new Map(state.files.map(({ path }) => [path, findText(folder, path)]))
    const unresolved = [...texts].filter(
      ([, text]) => text !== undefined && hasMarkers(text, state),
    )
    if (unresolved.length > 0)
      throw new CliError(
        "conflict",
        `Cannot continue: there are still conflict markers in ${unresolved.map(([path]) => `"${path}"`).join(", ")}`,
      )
    const resolved = [...texts].map(([path, content]) =>
      content === undefined ? ({ path, delete: true } as const) : { path, content },
    )
    const input = {
      ...toInput(checkout, { ...state, note: note ?? state.note }),
      resolved,
      sourceVersion: state.sourceVersion,
    }
    const version = await findSameVersion(open, state, texts)
    try {
      const done = await finishMerge(deps, open, () =>
        deps.client.mergeBranch(input, { ifMatch: version }),
      )
      return { ...done, state }
    } catch (error) {
      if (!isVersionConflict(error)) throw error
      throw new CliError(
        "conflict",
        `Cannot continue: ${state.ours} or ${state.theirs} has changed since the merge began`,
        {
          cause: error,
          advice:
            'run "hamlet branch merge --abort", which moves your texts to .hamlet/trash, and merge again',
        },
      )
    }
  })
}

/** Restores the files of before the merge; what they contain now moves to the trash. */
export async function abortMerge(context: Context, open: OpenCheckout): Promise<MergeState> {
  return withFolder(context, open, async () => {
    const { folder, checkout, client } = open
    const state = getMerge(folder)
    const fetchText = createFetchText(client, checkout, state.version)
    for (const { path, hasOurs } of state.files) {
      assertPlainParents(folder, path)
      const ours = hasOurs ? await fetchText(path) : undefined
      const text = findText(folder, path)
      if (text === ours) continue
      if (text !== undefined) moveToTrash(folder, path)
      if (ours === undefined) removeEmptyParents(folder, path)
      else makeFile(folder, path, ours)
    }
    removeMerge(folder)
    return state
  })
}

async function withFolder<Result>(
  context: Context,
  open: OpenCheckout,
  work: (deps: TreeDeps) => Promise<Result>,
): Promise<Result> {
  const { report, ...deps } = createTreeDeps(context, open)
  // The result is one line; only what needs attention is reported.
  const reportSome: TreeDeps["report"] = (event) => {
    if (event.action === "problem" || event.action === "conflict") report(event)
  }
  return withLockedFolder(open.folder, () => work({ ...deps, report: reportSome }))
}

function assertSaved({ steps }: ComparedTree): void {
  const changed = steps.find(isValStep)
  if (changed)
    throw new CliError("conflict", `Cannot merge: "${changed.path}" has local changes`, {
      advice: 'save them with "hamlet val push", or discard them with "hamlet val pull --force"',
    })
}

/** Merges, forgets the conflicts, and writes what the merge has changed. */
async function finishMerge(
  deps: TreeDeps,
  open: OpenCheckout,
  merge: () => Promise<Output<"mergeBranch">>,
): Promise<MergedFolder> {
  const merged = await merge()
  removeMerge(open.folder)
  return { merged, pulled: await pullTree(deps, await compareFolder(deps), false) }
}

/**
 * The version that the decisions are based on. If the branch has changed since, but has the same texts
 * as the decisions, as after a merge whose answer was lost, they overwrite nothing.
 */
async function findSameVersion(
  { client, checkout }: OpenCheckout,
  state: MergeState,
  texts: ReadonlyMap<string, string | undefined>,
): Promise<number> {
  const ids = { val_id: checkout.val.id, branch_id: checkout.branch.id }
  const { version } = await client.getBranch(ids)
  if (version === state.version) return version
  const fetchText = createFetchText(client, checkout, version)
  for (const [path, text] of texts) {
    if ((await unlessMissing(fetchText(path))) !== text) return state.version
  }
  return version
}

function writeConflicts(
  folder: string,
  { files }: Checkout,
  conflicts: readonly Conflict[],
  state: MergeState,
): void {
  for (const { path } of conflicts) {
    assertPlainParents(folder, path)
    if (!files.has(path) && existsSync(join(folder, path)))
      throw new CliError("conflict", `Cannot merge: "${path}" is in the way; rename it`)
  }
  // First: an interruption must not leave markers that look like changes.
  saveMerge(folder, state)
  for (const { path, ...texts } of conflicts) {
    const marked = toMarkedText(texts, state)
    const result =
      texts.ours === null || !files.has(path)
        ? makeFile(folder, path, marked)
        : replaceFile(folder, path, hashText(texts.ours), marked, (late) =>
            writeConflictFile(folder, path, late),
          )
    if (result === "raced")
      throw new CliError("conflict", `Cannot merge: "${path}" has just changed`, {
        advice: 'run "hamlet branch merge --abort", and merge again',
      })
  }
  saveMerge(folder, { ...state, isWritten: true })
}

function toFile({ path, ours }: Conflict): MergeState["files"][number] {
  return { path, hasOurs: ours !== null }
}

function toInput({ val }: Checkout, { branchId, into, note }: FolderMerge): Input<"mergeBranch"> {
  return { val_id: val.id, branch_id: branchId, into, note }
}

function getMerge(folder: string): MergeState {
  const state = findMerge(folder)
  if (state) return state
  throw new CliError("usage", "Cannot continue or abort a merge: none waits in this folder")
}

function findText(folder: string, path: string): string | undefined {
  return existsSync(join(folder, path)) ? readText(join(folder, path)) : undefined
}
