import { limits as wireLimits } from "@hamlet/contract"
import type { ThreeTexts } from "@hamlet/contract/merge-lines"
import { createTimeSlice } from "@hamlet/kit"
import { type Caller, forOwnerOf } from "../access/caller.ts"
import { assertMayChange } from "../access/rights.ts"
import { AppError } from "../app-error.ts"
import type { Clock } from "../clock.ts"
import type { Sources } from "../vals/val-source.ts"
import type { Vals } from "../vals/vals.ts"
import { type Branches, branchHasNoParent, branchNotFound } from "./branches.ts"
import type { FileChange, NewText } from "./change-tree.ts"
import {
  assertVersion,
  type FileChangeInput,
  type FileLink,
  type FileSaveStore,
  type FileSaves,
  type PlannedSave,
  readChanges,
} from "./file-saves.ts"
import type { Files } from "./files.ts"
import {
  type FileOutcome,
  type FileTriple,
  isSameState,
  type MergeConflict,
  type MergedTree,
  type MergeSide,
  type MergeSides,
  mergeTrees,
  type PathDecision,
  resolveConflicts,
} from "./merge-trees.ts"
import type { Tree, TreeFile } from "./tree.ts"

/** Merges texts line by line, elsewhere: users decide how long a comparison takes. */
export interface LineMerger {
  /** Begins a merge of several texts, whose work has a limit together. */
  begin(userId: string): LineMerging
}

/** The texts of one merge. */
export interface LineMerging {
  /** The text with the changes of both sides; undefined if they conflict. */
  merge(texts: ThreeTexts): Promise<string | undefined>
}

/** A merge as a client sends it. */
export interface MergeInput {
  /** Which of the two gets the changes of the other. */
  readonly into: "parent" | "branch"
  /** Says what the merge would do, and changes nothing. */
  readonly dryRun?: boolean | undefined
  readonly note?: string | undefined
  readonly resolved: readonly { readonly path: string; readonly content?: string | undefined }[]
  /** The version that the changes are expected to come from. */
  readonly sourceVersion?: number | undefined
  /** The version that is expected to get the changes. */
  readonly ifMatch?: number | undefined
}

/** The newest version of the branch that gets the changes. */
export interface MergeResult {
  readonly version: number
  /** False if there was nothing to merge. */
  readonly isNewVersion: boolean
}

/** A conflict with its texts; null where there is no file. */
export interface ConflictTexts {
  readonly path: string
  readonly base: string | null
  readonly ours: string | null
  readonly theirs: string | null
}

/** A merge that needs decisions. Nothing has changed. */
export class MergeRefused extends AppError {
  constructor(
    readonly details: {
      /** The first ones, as many as fit into a response. */
      readonly conflicts: readonly ConflictTexts[]
      readonly conflictCount: number
      /** The versions with these texts. */
      readonly version: number
      readonly sourceVersion: number
    },
  ) {
    const { conflicts, conflictCount } = details
    const paths = conflicts.slice(0, 3).map(({ path }) => `"${path}"`)
    super(
      "merge_conflict",
      `Cannot merge: both branches changed ${paths.join(", ")}${conflictCount > paths.length ? " and others" : ""}; send what they should contain`,
    )
  }
}

const limits = {
  /** Saves of the same files may come between; each attempt reads what they did. */
  attemptsMax: 20,
  /** A response with the texts of conflicts is written on the main thread. */
  conflictCharsMax: 1_000_000,
}

/** The rules of merges. */
export type Merges = ReturnType<typeof createMerges>

interface MergesParts {
  readonly store: FileSaveStore
  readonly vals: Vals
  readonly branches: Branches
  readonly files: Files
  readonly fileSaves: FileSaves
  readonly sources: Sources
  readonly lineMerger: LineMerger
  readonly clock: Clock
}

/** Creates the rules of merges. Those who may change a val may merge its branches. */
export function createMerges({
  store,
  vals,
  branches,
  files,
  fileSaves,
  sources,
  lineMerger,
  clock: { newId, now },
}: MergesParts) {
  return {
    /**
     * Takes the changes of a branch into its parent in one version, or those of the parent into the
     * branch: since the last merge of the two, or since the branch was made.
     */
    async merge(
      caller: Caller,
      valId: string,
      branchId: string,
      input: MergeInput,
    ): Promise<MergeResult> {
      const val = await vals.get(caller, valId)
      assertMayChange(val, caller)
      const { branch } = await branches.get(caller, valId, branchId)
      if (branch.forkedFromId === null) throw branchHasNoParent(branch)
      const targetId = input.into === "parent" ? branch.forkedFromId : branchId
      const source =
        input.into === "parent"
          ? branch
          : (await branches.get(caller, valId, branch.forkedFromId)).branch
      const note = input.note ?? `Merged ${source.name}`
      const read = (inputs: readonly FileChangeInput[]) =>
        readChanges(sources, forOwnerOf(val, caller), val.name, inputs)
      const resolutions = await readResolutions(input.resolved, read)
      const outcomes = createOutcomes(files, lineMerger.begin(caller.actorId), read)
      const plan = (sides: MergeSides, tree: Tree) =>
        planMerge(sides, tree, branchId, outcomes.get, resolutions, newId)
      for (let attempt = 1; attempt <= limits.attemptsMax; attempt++) {
        const contents = [...outcomes.contents(), ...resolutions.map(({ content }) => content)]
        try {
          const saved = await store.save(
            {
              valId,
              branchId: targetId,
              note,
              mergedId: branchId,
              importHosts: sources.importHosts,
              imports: contents.flatMap((content) => content?.imports ?? []),
              plan(current, target, tree, sides) {
                assertMayChange(current, caller)
                assertVersion(target, input.ifMatch)
                if (!sides) throw new Error("a merge has sides")
                assertSource(sides.theirs, input.sourceVersion)
                const planned = plan(sides, tree)
                if (input.dryRun) throw new Tried(target.version, planned)
                return planned
              },
            },
            now(),
          )
          if (saved === "no_branch") throw branchNotFound(targetId)
          const { branch: target, isNewVersion } = fileSaves.finish(saved, valId)
          return { version: target.version, isNewVersion }
        } catch (error) {
          if (error instanceof Tried) return error.result
          if (error instanceof Conflicting) throw await toRefusal(files, error)
          if (!(error instanceof Undecided)) throw error
          await outcomes.decide(error.sides, error.triples)
        }
      }
      throw new AppError("overloaded", "Cannot merge: the same files are being saved all the time")
    },
  }
}

/** Thrown by the plan of a dry run. The transaction has no effect. */
class Tried extends Error {
  readonly result: MergeResult

  constructor(version: number, planned: PlannedSave) {
    super("a dry run")
    this.result = { version, isNewVersion: planned.changed.length > 0 }
  }
}

/** Thrown by a plan that needs to know what becomes of some files. The transaction has no effect. */
class Undecided extends Error {
  constructor(
    readonly sides: MergeSides,
    readonly triples: readonly FileTriple[],
  ) {
    super("some files were not merged yet")
  }
}

/** Thrown by a plan with conflicts. */
class Conflicting extends Error {
  constructor(
    readonly sides: MergeSides,
    readonly conflicts: readonly MergeConflict[],
  ) {
    super("some files conflict")
  }
}

function planMerge(
  sides: MergeSides,
  tree: Tree,
  mergedId: string,
  find: (sides: MergeSides, triple: FileTriple) => FileOutcome | undefined,
  resolutions: readonly PathDecision[],
  newId: () => string,
): PlannedSave {
  const missing: FileTriple[] = []
  const outcomeOf = (triple: FileTriple): FileOutcome => {
    const outcome = find(sides, triple)
    if (!outcome) missing.push(triple)
    return outcome ?? { kind: "ours" }
  }
  const merged = mergeTrees(sides, outcomeOf, newId)
  if (missing.length > 0) throw new Undecided(sides, missing)
  const resolved = new Set(resolutions.map(({ path }) => path))
  const open = merged.conflicts.filter(({ path }) => !resolved.has(path))
  if (open.length > 0) throw new Conflicting(sides, open)
  const planned = resolveConflicts(tree, merged, resolutions, newId)
  return { ...planned, links: listLinks(merged, planned, sides.ours.branchId === mergedId) }
}

/** A file and what it was merged into belong together from now on. */
function listLinks(
  { placed }: MergedTree,
  planned: PlannedSave,
  isIntoBranch: boolean,
): readonly FileLink[] {
  const byPath = new Map(planned.files.map((file) => [file.path, file]))
  return placed.flatMap(({ triple: { theirs }, path }) => {
    const ours = byPath.get(path)
    if (!theirs || !ours || ours.type === "directory") return []
    return isIntoBranch
      ? [{ fileId: ours.fileId, originId: theirs.fileId }]
      : [{ fileId: theirs.fileId, originId: ours.fileId }]
  })
}

function assertSource({ version }: MergeSide, expected: number | undefined): void {
  if (expected === undefined || expected === version) return
  throw new AppError(
    "version_conflict",
    `Cannot merge: the branch that the changes come from is at version ${version}, not ${expected}`,
  )
}

type ReadChanges = (inputs: readonly FileChangeInput[]) => Promise<readonly FileChange[]>

async function readResolutions(
  resolved: MergeInput["resolved"],
  read: ReadChanges,
): Promise<readonly PathDecision[]> {
  const changes = await read(
    resolved.map(({ path, content }) =>
      content === undefined
        ? { kind: "delete", path, isRecursive: true }
        : { kind: "put", path, content },
    ),
  )
  return changes.map((change) => ({
    path: change.path,
    content: change.kind === "delete" ? undefined : change.content,
  }))
}

/**
 * What becomes of files, decided outside of transactions and kept for the next attempt: the states of
 * a file never change.
 */
function createOutcomes(files: Files, lines: LineMerging, read: ReadChanges) {
  const decided = new Map<string, FileOutcome>()
  const contents: NewText[] = []
  return {
    contents: () => contents,
    get: (sides: MergeSides, triple: FileTriple) => decided.get(toKey(sides, triple)),
    async decide(sides: MergeSides, triples: readonly FileTriple[]): Promise<void> {
      const texts = new Map<string, FileChangeInput & { readonly kind: "put" }>()
      const pace = createTimeSlice()
      for (const triple of triples) {
        const { text, ...outcome } = await decideFile(files, lines, sides, triple)
        const key = toKey(sides, triple)
        if (outcome.kind === "merged") {
          const { path, type } = outcome
          decided.set(key, { ...outcome, content: undefined })
          if (text !== undefined) texts.set(key, { kind: "put", path, type, content: text })
        } else decided.set(key, outcome)
        await pace()
      }
      const keys = [...texts.keys()]
      for (const [index, change] of (await read([...texts.values()])).entries()) {
        const key = keys[index] ?? ""
        const outcome = decided.get(key)
        if (outcome?.kind !== "merged" || change.kind !== "put" || !change.content) continue
        decided.set(key, { ...outcome, content: change.content })
        contents.push(change.content)
      }
    },
  }
}

function toKey({ base }: MergeSides, { base: before, ours, theirs }: FileTriple): string {
  const states = [before, ours, theirs].map((file) => (file ? `${file.path} ${file.since}` : "-"))
  return [base.branchId, ...states].join("\n")
}

type Decision = FileOutcome & { readonly text?: string | undefined }

/** What becomes of a file that `theirs` has changed, perhaps. */
async function decideFile(
  files: Files,
  lines: LineMerging,
  sides: MergeSides,
  triple: FileTriple,
): Promise<Decision> {
  const { base, ours, theirs } = triple
  const read = (side: MergeSide, file: TreeFile) => files.readText(side.branchId, file)
  const isChanged = async (side: MergeSide, before: TreeFile, after: TreeFile) =>
    before.path !== after.path ||
    before.type !== after.type ||
    (!isSameState(before, sides.base, after, side) &&
      (await read(sides.base, before)) !== (await read(side, after)))
  const conflict = ({ path, type }: TreeFile): Decision => ({ kind: "conflict", path, type })
  if (!theirs) {
    if (!base || !ours) return { kind: "ours" }
    return (await isChanged(sides.ours, base, ours)) ? conflict(ours) : { kind: "deleted" }
  }
  if (!ours) {
    if (base && !(await isChanged(sides.theirs, base, theirs))) return { kind: "ours" }
    if (base) return conflict(theirs)
    const { path, type } = theirs
    return {
      kind: "merged",
      path,
      type,
      content: undefined,
      text: await read(sides.theirs, theirs),
    }
  }
  const [ourText, theirText] = [await read(sides.ours, ours), await read(sides.theirs, theirs)]
  if (!base)
    return ours.type === theirs.type && ourText === theirText ? { kind: "ours" } : conflict(ours)
  const path = choose(base.path, ours.path, theirs.path)
  const type = choose(base.type, ours.type, theirs.type)
  const before = await read(sides.base, base)
  const chosen = choose(before, ourText, theirText)
  const merged = chosen ?? (await lines.merge({ base: before, ours: ourText, theirs: theirText }))
  const fits = merged !== undefined && merged.length <= wireLimits.codeCharsMax
  if (path === undefined || type === undefined || !fits)
    return { kind: "conflict", path: path ?? ours.path, type: type ?? ours.type }
  const text = merged === ourText ? undefined : merged
  return { kind: "merged", path, type, content: undefined, text }
}

/** What the side that has changed it says; undefined if they differ. */
function choose<Value>(base: Value, ours: Value, theirs: Value): Value | undefined {
  if (ours === theirs || theirs === base) return ours
  return ours === base ? theirs : undefined
}

async function toRefusal(files: Files, { sides, conflicts }: Conflicting): Promise<MergeRefused> {
  const shown: ConflictTexts[] = []
  let chars = 0
  const read = (side: MergeSide, file: TreeFile | undefined) =>
    file ? files.readText(side.branchId, file) : null
  for (const { path, base, ours, theirs, mergedText } of conflicts) {
    const texts = {
      base: await read(sides.base, base),
      ours: mergedText ?? (await read(sides.ours, ours)),
      theirs: await read(sides.theirs, theirs),
    }
    for (const text of Object.values(texts)) chars += text?.length ?? 0
    if (shown.length > 0 && chars > limits.conflictCharsMax) break
    shown.push({ path, ...texts })
  }
  return new MergeRefused({
    conflicts: shown,
    conflictCount: conflicts.length,
    version: sides.ours.version,
    sourceVersion: sides.theirs.version,
  })
}
