import { type Dialect, firstRow, rows, type Script, type Statement, sql } from "@hamlet/database"
import { type Branch, branchHasNoParent, branchNotFound } from "../../domain/files/branches.ts"
import type { FileLink } from "../../domain/files/file-saves.ts"
import type { MergeSide, MergeSides } from "../../domain/files/merge-trees.ts"
import { createTree, type Tree } from "../../domain/files/tree.ts"
import { readPaths } from "./branch-rows.ts"
import { findBranch } from "./branches.ts"

/**
 * Reads what a merge of a branch and its parent needs: `ours` is the one of the two that is changed.
 * The base is the last version of one of them that the other has taken in: all of it is in both.
 */
export function* readSides(
  dialect: Dialect,
  ours: Branch,
  tree: Tree,
  mergedId: string,
): Script<MergeSides> {
  const merged = yield* findBranch(dialect, ours.valId, mergedId)
  if (!merged) throw branchNotFound(mergedId)
  if (merged.forkedFromId === null) throw branchHasNoParent(merged)
  const theirsId = ours.id === mergedId ? merged.forkedFromId : mergedId
  const theirs = yield* findBranch(dialect, ours.valId, theirsId)
  if (!theirs) throw branchNotFound(theirsId)
  const linked = yield* rows<OriginRow>(selectOrigins(mergedId))
  return {
    base: yield* readBase(mergedId),
    ours: { branchId: ours.id, version: ours.version, tree },
    theirs: {
      branchId: theirsId,
      version: theirs.version,
      tree: createTree(yield* readPaths(theirsId, theirs.version)),
    },
    origins: toOrigins(linked),
  }
}

/** The base of a branch and its parent. */
export interface BaseRow {
  readonly branchId: string
  /** Null if all versions up to it were deleted. */
  readonly version: number | null
}

/** Selects the base of a branch. */
export function selectBase(branchId: string): Statement {
  return sql`
    select coalesce(b.base_id, b.id) as branch_id, (select n.version from versions n
      where n.branch_id = coalesce(b.base_id, b.id) and n.version <= coalesce(b.base_version, 0)
      order by n.version desc limit 1) as version
    from branches b where b.id = ${branchId}`
}

/** A file of a branch that is a copy of one of its parent. */
export interface OriginRow {
  readonly id: string
  readonly originId: string
}

/** Selects the files of a branch that are copies. */
export function selectOrigins(branchId: string): Statement {
  return sql`select id, origin_id from files where branch_id = ${branchId} and origin_id is not null`
}

/** Converts the rows of `selectOrigins`. */
export function toOrigins(found: readonly OriginRow[]): ReadonlyMap<string, string> {
  return new Map(found.map((row) => [row.id, row.originId]))
}

/** An earlier version is a base too, if that one was deleted; with none, all files are new. */
function* readBase(mergedId: string): Script<MergeSide> {
  const base = yield* firstRow<BaseRow>(selectBase(mergedId))
  const branchId = base?.branchId ?? mergedId
  const version = base?.version ?? undefined
  const states = version === undefined ? [] : yield* readPaths(branchId, version)
  return { branchId, version: version ?? 0, tree: createTree(states) }
}

/** Notes that `ours` has all of `theirs`, and which files belong together from now on. */
export function* noteMerge(
  mergedId: string,
  { theirs, origins }: MergeSides,
  links: readonly FileLink[],
): Script<void> {
  yield sql`update branches set base_id = ${theirs.branchId}, base_version = ${theirs.version} where id = ${mergedId}`
  for (const { fileId, originId } of links)
    if (origins.get(fileId) !== originId)
      yield sql`update files set origin_id = ${originId} where id = ${fileId}`
}
