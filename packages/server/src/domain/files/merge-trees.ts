import { toParentPath } from "@hamlet/contract/file-paths"
import {
  changeTree,
  type FileChange,
  type NewText,
  type PlannedFile,
  type PlannedTree,
  toPlanned,
} from "./change-tree.ts"
import type { FileType, Tree, TreeFile } from "./tree.ts"

/** The files of a version of a branch. */
export interface MergeSide {
  readonly branchId: string
  readonly version: number
  readonly tree: Tree
}

/** What is merged: `ours` gets the changes from `base` to `theirs`. */
export interface MergeSides {
  readonly base: MergeSide
  readonly ours: MergeSide
  readonly theirs: MergeSide
  /** The file of the parent that a file of the branch is a copy of, by its id. */
  readonly origins: ReadonlyMap<string, string>
}

/** One file on the three sides; undefined where it does not exist. */
export interface FileTriple {
  readonly base: TreeFile | undefined
  readonly ours: TreeFile | undefined
  readonly theirs: TreeFile | undefined
}

/** What becomes of a file that `theirs` has changed. */
export type FileOutcome =
  | { readonly kind: "ours" | "deleted" }
  /** Without a content, the text of ours stays. */
  | ({ readonly kind: "merged" } & MergedFile)
  /** Both sides have changed it, and a person must decide. The file is where it will be then. */
  | { readonly kind: "conflict"; readonly path: string; readonly type: FileType }

interface MergedFile {
  readonly path: string
  readonly type: FileType
  readonly content: NewText | undefined
}

/** A path about which a person must decide. */
export interface MergeConflict extends FileTriple {
  readonly path: string
  /** The text of ours, if changes of theirs were merged into it before. */
  readonly mergedText?: string | undefined
}

/** The result of a merge, before the decisions. */
export interface MergedTree {
  readonly files: readonly PlannedFile[]
  readonly conflicts: readonly (MergeConflict & { readonly type: FileType })[]
  /** The files of `theirs`, and where they are now. */
  readonly placed: readonly { readonly triple: FileTriple; readonly path: string }[]
}

const limits = {
  /** A file that cannot be moved may be in the way of the next one, and so on. */
  roundsMax: 20,
}

/** The files that `theirs` may have changed since the base. */
function listTriples(sides: MergeSides): readonly FileTriple[] {
  const { base, ours, theirs } = sides
  return pairFiles(sides).filter(
    (triple) =>
      (triple.base || triple.theirs) && !isSameState(triple.base, base, triple.theirs, theirs),
  )

  function pairFiles({ origins }: MergeSides): readonly FileTriple[] {
    const all = { base: listFiles(base), ours: listFiles(ours), theirs: listFiles(theirs) }
    const keyed = {
      base: byKey(all.base, origins),
      ours: byKey(all.ours, origins),
      theirs: byKey(all.theirs, origins),
    }
    const keys = new Set([...keyed.base.keys(), ...keyed.ours.keys(), ...keyed.theirs.keys()])
    const triples = [...keys].map((key) => ({
      base: keyed.base.get(key),
      ours: keyed.ours.get(key),
      theirs: keyed.theirs.get(key),
    }))
    return pairByPath(triples)
  }
}

/** Whether two files are one state of one branch. */
export function isSameState(
  left: TreeFile | undefined,
  leftSide: MergeSide,
  right: TreeFile | undefined,
  rightSide: MergeSide,
): boolean {
  if (!left || !right) return left === right
  return (
    leftSide.branchId === rightSide.branchId &&
    left.path === right.path &&
    left.since === right.since
  )
}

function listFiles({ tree }: MergeSide): readonly TreeFile[] {
  return tree.files.filter(({ type }) => type !== "directory")
}

function byKey(files: readonly TreeFile[], origins: MergeSides["origins"]) {
  const keyed = new Map<string, TreeFile>()
  for (const file of files) {
    const origin = origins.get(file.fileId) ?? file.fileId
    // A file that was deleted and made again may be a copy of the same file as another.
    keyed.set(keyed.has(origin) ? file.fileId : origin, file)
  }
  return keyed
}

/** A file that was deleted and made again at its path, or made at a path on both sides, is one file. */
function pairByPath(triples: readonly FileTriple[]): readonly FileTriple[] {
  const taken = new Set<FileTriple>()
  const indexOf = (side: keyof FileTriple) =>
    new Map(
      triples.flatMap((one) => {
        const others = Object.entries(one).filter(([name, file]) => name !== side && file)
        const file = one[side]
        return file && others.length === 0 ? [[file.path, one] as const] : []
      }),
    )
  const [newOurs, newTheirs] = [indexOf("ours"), indexOf("theirs")]
  const take = (found: FileTriple | undefined) => {
    if (found) taken.add(found)
    return found
  }
  const paired = triples.map((one): FileTriple => {
    const { base, ours, theirs } = one
    const path = base?.path
    if (path !== undefined)
      return {
        base,
        ours: ours ?? take(newOurs.get(path))?.ours,
        theirs: theirs ?? take(newTheirs.get(path))?.theirs,
      }
    return one
  })
  return paired.flatMap((one, index) => {
    const original = triples[index]
    if (!original || taken.has(original)) return []
    const { base, ours, theirs } = one
    if (base || !theirs || ours) return [one]
    const added = newOurs.get(theirs.path)
    if (!added || taken.has(added)) return [one]
    taken.add(added)
    return [{ base, ours: added.ours, theirs }]
  })
}

/** Puts the outcomes of files together. Paths that do not fit beside each other are conflicts. */
export function mergeTrees(
  sides: MergeSides,
  outcomeOf: (triple: FileTriple) => FileOutcome,
  newId: () => string,
): MergedTree {
  const triples = listTriples(sides)
  const outcomes = triples.map((triple) => ({ triple, outcome: outcomeOf(triple) }))
  const touched = new Set(triples.map(({ ours }) => ours?.path))
  const { ours } = sides
  const untouched = listFiles(ours).filter(({ path }) => !touched.has(path))
  const refused = new Set<FileTriple>()
  const moving = outcomes.filter(({ triple, outcome }) => {
    const path = toNewPath(triple, outcome)
    return path !== undefined && path !== triple.ours?.path
  })
  for (let round = 1; ; round++) {
    const places = createPlaces()
    const directories = listDirectories(sides)
    for (const { path } of directories.kept) places.add(path, true)
    for (const { path } of untouched) places.add(path)
    for (const { triple, outcome } of outcomes) {
      const path = refused.has(triple) ? triple.ours?.path : toNewPath(triple, outcome)
      if (path !== undefined && path === triple.ours?.path) places.add(path)
    }
    const before = refused.size
    for (const { triple, outcome } of moving) {
      const path = toNewPath(triple, outcome)
      if (path === undefined || refused.has(triple)) continue
      if (!places.add(path)) refused.add(triple)
    }
    if (refused.size === before)
      return assemble(sides, { outcomes, untouched, refused, directories, places }, newId)
    if (round === limits.roundsMax) for (const { triple } of moving) refused.add(triple)
  }
}

/** Where an outcome puts the file; undefined if there is none. */
function toNewPath(triple: FileTriple, outcome: FileOutcome): string | undefined {
  if (outcome.kind === "merged") return outcome.path
  if (outcome.kind === "conflict") return triple.ours && outcome.path
  return outcome.kind === "ours" ? triple.ours?.path : undefined
}

type Places = ReturnType<typeof createPlaces>

/** The paths that are in use. Two of them must differ in more than case, and none is in a file. */
function createPlaces() {
  const used = new Map<string, { readonly path: string; readonly isDirectory: boolean }>()
  return {
    used,
    /** False if the path does not fit. */
    add(path: string, isDirectory = false): boolean {
      const parents: string[] = []
      for (let one = toParentPath(path); one !== ""; one = toParentPath(one)) parents.push(one)
      const found = used.get(path.toLowerCase())
      const isFree = !found || (isDirectory && found.isDirectory && found.path === path)
      const fits = parents.every((one) => {
        const parent = used.get(one.toLowerCase())
        return !parent || (parent.isDirectory && parent.path === one)
      })
      if (!isFree || !fits) return false
      for (const one of parents) used.set(one.toLowerCase(), { path: one, isDirectory: true })
      used.set(path.toLowerCase(), { path, isDirectory })
      return true
    },
  }
}

interface Directories {
  /** Directories of our side that their side has not deleted. */
  readonly kept: readonly TreeFile[]
  readonly added: readonly string[]
}

function listDirectories({ base, ours, theirs }: MergeSides): Directories {
  const list = ({ tree }: MergeSide) => tree.files.filter(({ type }) => type === "directory")
  const before = new Set(list(base).map(({ path }) => path))
  const now = new Set(list(theirs).map(({ path }) => path))
  return {
    kept: list(ours).filter(({ path }) => now.has(path) || !before.has(path)),
    added: [...now].filter((path) => !before.has(path)),
  }
}

function assemble(
  { ours }: MergeSides,
  parts: {
    readonly outcomes: readonly { readonly triple: FileTriple; readonly outcome: FileOutcome }[]
    readonly untouched: readonly TreeFile[]
    readonly refused: ReadonlySet<FileTriple>
    readonly directories: Directories
    readonly places: Places
  },
  newId: () => string,
): MergedTree {
  const { outcomes, untouched, refused, directories, places } = parts
  for (const path of directories.added) places.add(path, true)
  const files: PlannedFile[] = untouched.map(toPlanned)
  const conflicts: MergedTree["conflicts"][number][] = []
  const placed: MergedTree["placed"][number][] = []
  // A decision about a path must not overwrite a text that was not shown.
  const similar = new Map(listFiles(ours).map((file) => [file.path.toLowerCase(), file]))
  const oursAt = (path: string) => similar.get(path.toLowerCase())
  for (const { triple, outcome } of outcomes) {
    const origin = triple.ours
    const path = toNewPath(triple, outcome)
    const isRefused = refused.has(triple)
    const found = path === undefined ? undefined : oursAt(path)
    if (outcome.kind === "conflict")
      conflicts.push({
        ...triple,
        ours: origin ?? oursAt(outcome.path),
        type: outcome.type,
        path: isRefused && origin ? origin.path : outcome.path,
      })
    if (isRefused && path !== undefined && triple.theirs)
      conflicts.push({ ...triple, ours: found ?? origin, path, type: triple.theirs.type })
    if (path === undefined || (isRefused && !origin)) {
      if (outcome.kind === "conflict") placed.push({ triple, path: outcome.path })
      continue
    }
    const shown = isRefused && origin ? origin.path : path
    placed.push({ triple, path: shown })
    files.push(toMerged(shown, origin, isRefused ? { kind: "ours" } : outcome, newId))
  }
  const known = new Map(ours.tree.files.map((file) => [file.path, file]))
  for (const { path, isDirectory } of places.used.values()) {
    if (!isDirectory) continue
    const found = known.get(path)
    if (found?.type === "directory") files.push(toPlanned(found))
    else
      files.push({
        path,
        fileId: newId(),
        type: "directory",
        content: undefined,
        origin: undefined,
      })
  }
  const merged = new Map(files.map((file) => [file.path.toLowerCase(), file.content?.text]))
  return {
    files,
    conflicts: conflicts.map((one) => ({ ...one, mergedText: merged.get(one.path.toLowerCase()) })),
    placed,
  }
}

function toMerged(
  path: string,
  origin: TreeFile | undefined,
  outcome: FileOutcome,
  newId: () => string,
): PlannedFile {
  const type = outcome.kind === "merged" ? outcome.type : origin?.type
  const content = outcome.kind === "merged" ? outcome.content : undefined
  return {
    path,
    fileId: origin?.fileId ?? newId(),
    type: type ?? "file",
    content,
    origin,
  }
}

/** A decision about a path: the text of the file, or that there is none. */
export interface PathDecision {
  readonly path: string
  readonly content: NewText | undefined
}

/**
 * The planned files with the decisions about conflicts, which hold for any path. That there is no file
 * at the path of a conflict does not delete a directory there; a file may replace an empty one.
 */
export function resolveConflicts(
  tree: Tree,
  { files, conflicts }: MergedTree,
  decisions: readonly PathDecision[],
  newId: () => string,
): PlannedTree {
  const planned = new Map(files.map((file) => [file.path, file.type]))
  const types = new Map(conflicts.map(({ path, type }) => [path, type]))
  const isFile = (path: string) => (planned.get(path) ?? "directory") !== "directory"
  const deletions = decisions.flatMap(({ path, content }): FileChange[] =>
    content || (types.has(path) && !isFile(path))
      ? []
      : [{ kind: "delete", path, isRecursive: true }],
  )
  const puts = decisions.flatMap(({ path, content }): FileChange[] => {
    if (!content) return []
    const put = {
      kind: "put",
      path,
      type: planned.has(path) ? undefined : types.get(path),
    } as const
    return planned.get(path) === "directory"
      ? [
          { kind: "delete", path, isRecursive: false },
          { ...put, content },
        ]
      : [{ ...put, content }]
  })
  return changeTree(tree, [...deletions, ...puts], newId, files)
}
