import type { Client, Input, Output } from "@hamlet/contract/client"
import { findNamedType } from "@hamlet/contract/file-types"
import { limits } from "@hamlet/contract/limits"
import { CliError } from "../cli-error.ts"
import { readFound } from "../watch/keep-texts.ts"
import type { BaseFile, Checkout } from "./checkout-state.ts"
import type { ValStep } from "./plan-tree.ts"
import type { RemoteTree } from "./remote-tree.ts"

/** What a save needs. */
export interface SaveDeps {
  readonly client: Client
  readonly folder: string
  readonly checkout: Checkout
  /** The files on the server, and the version that the save is based on. */
  readonly remote: Pick<RemoteTree, "version" | "files" | "directories">
  readonly note?: string | undefined
}

/** The result of a save. */
export interface SavedTree {
  readonly version: number
  readonly isNewVersion: boolean
  /** The files after the save. */
  record(before: ReadonlyMap<string, BaseFile>): ReadonlyMap<string, BaseFile>
}

type Change = Input<"changeFiles">["changes"][number]

/**
 * Saves all changes of the folder as one version. Returns undefined if a file has changed meanwhile;
 * fails with `version_conflict` if the branch has.
 */
export async function saveTree(
  { client, folder, checkout, remote, note }: SaveDeps,
  steps: readonly ValStep[],
): Promise<SavedTree | undefined> {
  const texts = readTexts(folder, steps)
  if (!texts) return undefined
  const changes = toChanges(steps, texts, remote)
  if (changes.length > limits.fileChangesMax)
    throw new CliError(
      "failed",
      `Cannot save ${changes.length} changes: one version has at most ${limits.fileChangesMax}`,
      { advice: "list what does not belong to the val in .hamletignore" },
    )
  const saved = await client.changeFiles(
    { val_id: checkout.val.id, branch_id: checkout.branch.id, changes, note },
    { ifMatch: remote.version },
  )
  return { ...saved, record: (files) => recordSave(files, steps, saved.files, remote) }
}

/** The recorded files after a save. */
function recordSave(
  before: ReadonlyMap<string, BaseFile>,
  steps: readonly ValStep[],
  written: Output<"changeFiles">["files"],
  remote: SaveDeps["remote"],
): ReadonlyMap<string, BaseFile> {
  const files = new Map(before)
  for (const { kind, path } of steps) if (kind !== "create" && kind !== "save") files.delete(path)
  const hashes = new Map(
    steps.map(({ kind, path, newPath = path, hash }) => [
      newPath,
      kind === "move" ? remote.files.get(path)?.hash : hash,
    ]),
  )
  for (const { path, id, type, version } of written) {
    const hash = hashes.get(path)
    if (hash !== undefined) files.set(path, { id, type, version, hash })
  }
  return files
}

function readTexts(
  folder: string,
  steps: readonly ValStep[],
): ReadonlyMap<string, string> | undefined {
  const texts = new Map<string, string>()
  for (const { kind, path, hash = "" } of steps) {
    if (kind !== "create" && kind !== "save") continue
    const text = readFound(folder, { path, hash })
    if (text === undefined) return undefined
    texts.set(path, text)
  }
  return texts
}

/** First what frees paths, then what needs them. */
function toChanges(
  steps: readonly ValStep[],
  texts: ReadonlyMap<string, string>,
  { files, directories }: SaveDeps["remote"],
): readonly Change[] {
  const moves = steps.flatMap(({ path, newPath }) =>
    newPath === undefined ? [] : [{ path, newPath }],
  )
  const deleted = steps.filter(({ kind }) => kind === "delete").map(({ path }) => path)
  const gone = new Set([...deleted, ...moves.map(({ path }) => path)])
  const kept = [
    ...[...files.keys()].filter((path) => !gone.has(path)),
    ...moves.map(({ newPath }) => newPath),
    ...texts.keys(),
  ]
  // Folders that this save leaves empty; the others may be empty on purpose.
  const empty = [...directories].filter(
    (folder) =>
      [...gone].some((path) => path.startsWith(`${folder}/`)) &&
      !kept.some((path) => path.startsWith(`${folder}/`)),
  )
  return [
    ...moves,
    ...[...deleted, ...empty.sort().reverse()].map((path) => ({ path, delete: true }) as const),
    ...[...texts].map(([path, content]) => {
      const type = files.has(path) ? undefined : findNamedType(path)
      return type === undefined ? { path, content } : { path, content, type }
    }),
  ]
}
