import type { BaseFile } from "./checkout-state.ts"
import type { RemoteTree } from "./remote-tree.ts"
import type { TreeScan } from "./scan-tree.ts"

/*
 * What to do about each file of a val, decided from three sides, as for whole vals in
 * watch/plan/decide.ts. The *base* is what the folder recorded, the *file* is in the folder, and
 * *theirs* is the file on the server. A file that is being written or cannot be read is not decided
 * about. A file on the server is the same one as long as its id is; a file in the folder is the same
 * one if a missing file had its text.
 *
 *   base   file       theirs     step
 *   -----  ---------  ---------  --------------------------------------------------------------------
 *   none   –          exists     write
 *   none   exists     –          create
 *   none   exists     equal      note
 *   none   exists     different  conflict
 *   known  unchanged  changed    write, also to another path
 *   known  changed    unchanged  save
 *   known  changed    equal      note: the same change twice, or one that was not recorded
 *   known  changed    changed    conflict: the file's text goes to a conflict file
 *   known  changed    moved      carry: move the file, and keep its text
 *   known  moved      unchanged  move
 *   known  moved      moved      note: to the same path, as in a push that was not recorded; save if
 *                                the text has changed too
 *   known  moved      changed    write: a change of theirs comes first
 *   known  –          unchanged  delete
 *   known  –          changed    write: a change outweighs a deletion
 *   known  unchanged  –          trash
 *   known  changed    –          rescue: the file becomes a conflict file
 *   known  –          –          forget
 */

/** What to do about one file. */
export type Step = RecordStep | FolderStep | ValStep

/** Only the record of the folder changes. */
export interface RecordStep {
  readonly kind: "note" | "forget"
  readonly path: string
  /** The recorded path, if it is not theirs. */
  readonly before?: string | undefined
  readonly theirs?: BaseFile
}

/** Changes the folder. */
export interface FolderStep {
  readonly kind: "write" | "conflict" | "carry" | "trash" | "rescue"
  /** Their path, or the recorded one if they have deleted the file. */
  readonly path: string
  /** The path in the folder, and the hash that the file has there. */
  readonly here?: string | undefined
  readonly hash?: string | undefined
  /** The recorded path, if it is not theirs. */
  readonly before?: string | undefined
  readonly theirs?: BaseFile
}

/** Changes the val. */
export interface ValStep {
  readonly kind: "create" | "save" | "delete" | "move"
  readonly path: string
  readonly newPath?: string
  /** The hash of the text that is saved. */
  readonly hash?: string | undefined
}

/** The three sides of a val. */
export interface TreeSides {
  readonly base: ReadonlyMap<string, BaseFile>
  readonly scan: Pick<TreeScan, "files" | "blocked" | "missing">
  readonly remote: Pick<RemoteTree, "files">
}

/** A plan, and the paths that nothing can be done about, with the reason. */
export interface TreePlan {
  readonly steps: readonly Step[]
  readonly problems: ReadonlyMap<string, string>
}

/** Decides by the table above. */
export function planTree({ base, scan, remote }: TreeSides): TreePlan {
  const moves = findMoves(base, scan)
  const movedTo = new Set(moves.values())
  const byId = new Map([...remote.files].map(([path, file]) => [file.id, path]))
  const steps: Step[] = []
  const problems = new Map<string, string>()
  const done = new Set<string>()
  const fresh = new Map([...scan.files].filter(([path]) => !base.has(path) && !movedTo.has(path)))
  const freshKeys = new Map([...fresh.keys()].map((path) => [path.toLowerCase(), path]))
  for (const [path, file] of base) {
    const theirPath = byId.get(file.id) ?? (remote.files.has(path) ? path : undefined)
    if (theirPath !== undefined) done.add(theirPath)
    // The file is being written, or cannot be read.
    if (scan.blocked.has(path)) continue
    const here = scan.files.has(path)
      ? path
      : (moves.get(path) ?? takeMoved(fresh, path, theirPath, scan))
    const known = { path, file, here, hash: scan.files.get(here ?? "")?.hash }
    const theirs = theirPath === undefined ? undefined : remote.files.get(theirPath)
    if (theirPath === undefined || !theirs) steps.push(decideDeleted(known))
    else if (theirPath !== path && (fresh.has(theirPath) || scan.blocked.has(theirPath)))
      problems.set(theirPath, toTaken(theirPath, theirPath))
    else steps.push(...decideKnown(known, theirPath, theirs))
  }
  for (const [path, theirs] of remote.files) {
    if (done.has(path) || scan.blocked.has(path)) continue
    const hash = fresh.get(path)?.hash
    const other = freshKeys.get(path.toLowerCase())
    if (hash === undefined && other !== undefined) problems.set(path, toTaken(path, other))
    else if (hash === undefined) steps.push({ kind: "write", path, theirs })
    else if (hash === theirs.hash) steps.push({ kind: "note", path, theirs })
    else steps.push({ kind: "conflict", path, here: path, hash, theirs })
    if (other !== undefined) fresh.delete(other)
  }
  for (const [path, { hash }] of fresh)
    if (!problems.has(path)) steps.push({ kind: "create", path, hash })
  return { steps, problems }
}

/** Whether a step changes the folder: it must be done before the folder can be saved. */
export function isFolderStep(step: Step): step is FolderStep {
  return ["write", "conflict", "carry", "trash", "rescue"].includes(step.kind)
}

/** Whether a step changes the val. */
export function isValStep(step: Step): step is ValStep {
  return ["create", "save", "delete", "move"].includes(step.kind)
}

interface Known {
  readonly path: string
  readonly file: BaseFile
  readonly here: string | undefined
  readonly hash: string | undefined
}

function decideDeleted({ path, file, here, hash }: Known): Step {
  if (here === undefined) return { kind: "forget", path }
  return { kind: hash === file.hash ? "trash" : "rescue", path, here, hash }
}

function decideKnown(
  { path, file, here, hash }: Known,
  theirPath: string,
  theirs: BaseFile,
): readonly Step[] {
  const before = theirPath === path ? undefined : path
  const isTheirText = theirs.hash !== file.hash
  const isSame = !isTheirText && before === undefined
  const record: readonly Step[] =
    isSame &&
    (theirs.version !== file.version || theirs.id !== file.id || theirs.type !== file.type)
      ? [{ kind: "note", path, theirs }]
      : []
  const sides = { path: theirPath, here, hash, before, theirs }
  if (here === undefined)
    return isSame ? [...record, { kind: "delete", path }] : [{ kind: "write", ...sides }]
  // Both sides made the same change, or one was not recorded.
  if (!isSame && here === theirPath && hash === theirs.hash)
    return [{ kind: "note", path: theirPath, before, theirs }]
  if (here === theirPath && before !== undefined && !isTheirText)
    return [
      { kind: "note", path: theirPath, before, theirs },
      { kind: "save", path: theirPath, hash },
    ]
  if (hash === file.hash) {
    if (!isSame) return [{ kind: "write", ...sides }]
    return here === path ? record : [...record, { kind: "move", path, newPath: here }]
  }
  if (isSame) return [...record, { kind: "save", path, hash }]
  return [{ kind: isTheirText ? "conflict" : "carry", ...sides }]
}

/** A new file at the path that they have moved it to: it was moved here too, and then changed. */
function takeMoved(
  fresh: Map<string, unknown>,
  path: string,
  theirPath: string | undefined,
  { missing }: TreeSides["scan"],
): string | undefined {
  if (theirPath === undefined || theirPath === path || !missing.has(path)) return undefined
  return fresh.delete(theirPath) ? theirPath : undefined
}

/** Maps a missing path to the new file with its text. Ambiguous matches are ignored. */
function findMoves(
  base: ReadonlyMap<string, BaseFile>,
  scan: TreeSides["scan"],
): ReadonlyMap<string, string> {
  const gone = [...base].filter(([path]) => scan.missing.has(path))
  const fresh = [...scan.files].filter(([path]) => !base.has(path))
  const byHash = Map.groupBy(fresh, ([, { hash }]) => hash)
  const goneByHash = Map.groupBy(gone, ([, file]) => file.hash)
  const moves = new Map<string, string>()
  for (const [path, { hash }] of gone) {
    const [only, ...others] = byHash.get(hash) ?? []
    if (only && others.length === 0 && goneByHash.get(hash)?.length === 1) moves.set(path, only[0])
  }
  return moves
}

function toTaken(path: string, other: string): string {
  return `Cannot write "${path}": "${other}" is in its place and does not belong to the val; rename it`
}
