import type { FileState } from "../../files/folder-state.ts"
import { isSameName, toNewValName } from "../paths.ts"
import type { ValState } from "../remote-vals.ts"
import type { FoundFile, Scan } from "../scan-folder.ts"

/** A val, its file, and the base that the folder recorded of both. */
export interface Match {
  /** The current or last path of the file. */
  readonly path: string | undefined
  readonly base: FileState | undefined
  /** The recorded path of the file, if it has moved. */
  readonly movedFrom: string | undefined
  readonly file: FoundFile | undefined
  readonly val: ValState | undefined
}

/** The matched files, bases and vals. */
export interface Matches {
  readonly matches: readonly Match[]
  /** Files that match nothing, and why. */
  readonly problems: ReadonlyMap<string, string>
  /** Recorded paths that are no longer needed. */
  readonly stale: readonly string[]
}

/** The three sides before matching. */
export interface Unmatched {
  readonly bases: ReadonlyMap<string, FileState>
  readonly scan: Scan
  readonly vals: readonly ValState[]
  /** The id of the vals' owner. */
  readonly owner: string
}

type Known = readonly [path: string, base: FileState]

/**
 * Matches a file with the base of its path, or with the base of a deleted file from which it was
 * moved; a base with the val of its id; and a new file with the val of its name.
 */
export function matchSides({ bases, scan, vals, owner }: Unmatched): Matches {
  const problems = new Map<string, string>()
  for (const [path, problem] of scan.blocked) if (problem !== undefined) problems.set(path, problem)
  const { own, foreign, stale } = sortBases(bases, scan, owner)
  for (const [path, problem] of foreign) problems.set(path, problem)
  const fresh = [...scan.files.values()].filter(({ path }) => !bases.has(path))
  const moves = findMoves(
    own.filter(([path]) => scan.missing.has(path)),
    fresh,
    scan,
  )
  const moved = new Set([...moves.values()].map(({ path }) => path))
  const byId = new Map(vals.map((val) => [val.id, val]))
  const known = own.flatMap(([path, base]) =>
    toKnownMatch(scan, path, base, moves.get(path), byId.get(base.id)),
  )
  const ids = new Set(own.map(([, base]) => base.id))
  const newFiles = fresh.filter(({ path }) => !moved.has(path))
  const free = vals.filter(({ id }) => !ids.has(id))
  const made = matchFresh(newFiles, known, vals, ids, problems)
  // The vals of new files are claimed too: those files are matched with them, or cannot be.
  const isClaimed = createClaims(scan, bases, newFiles)
  const written = free.filter(({ name }) => !isClaimed(name))
  return {
    matches: [
      ...known,
      ...made,
      ...written.map((val) => ({
        path: undefined,
        base: undefined,
        movedFrom: undefined,
        file: undefined,
        val,
      })),
    ],
    problems,
    stale,
  }
}

/** Keeps one base per val of the owner; files of other users' vals are left alone. */
function sortBases(bases: ReadonlyMap<string, FileState>, scan: Scan, owner: string) {
  const isThere = (path: string) => scan.files.has(path) || scan.blocked.has(path)
  const own = new Map<string, Known>()
  const foreign = new Map<string, string>()
  const stale: string[] = []
  for (const [path, base] of [...bases].sort(
    ([one], [other]) => Number(isThere(other)) - Number(isThere(one)),
  )) {
    const first = own.get(base.id)
    if (path.startsWith("..")) continue
    if (base.owner !== undefined && base.owner !== owner) {
      if (isThere(path))
        foreign.set(path, `Cannot watch "${path}": its val belongs to another user`)
    } else if (!first) own.set(base.id, [path, base])
    else if (isThere(path)) foreign.set(path, toClaim(path, base.name ?? "", first[0]))
    else stale.push(path)
  }
  return { own: [...own.values()], foreign, stale }
}

/**
 * Finds moved files: maps the path of a deleted file to the new file that it became, by file
 * identity, name, text or code, in this order. Ambiguous matches are ignored.
 */
function findMoves(
  gone: readonly Known[],
  fresh: readonly FoundFile[],
  { identities }: Scan,
): ReadonlyMap<string, FoundFile> {
  const moves = new Map<string, FoundFile>()
  const signs: readonly ((known: Known, file: FoundFile) => boolean)[] = [
    ([path], file) => identities.has(path) && identities.get(path) === identities.get(file.path),
    ([, base], file) => base.name !== undefined && isSameName(base.name, file.name),
    ([, base], file) => !base.isLeft && base.hash === file.hash,
    ([, base], file) => !base.isLeft && base.codeHash === file.codeHash,
  ]
  for (const isSign of signs) {
    const left = gone.filter(([path]) => !moves.has(path))
    const free = fresh.filter((file) => ![...moves.values()].includes(file))
    for (const known of left) {
      const [file, ...others] = free.filter((one) => isSign(known, one))
      if (file && others.length === 0 && left.filter((one) => isSign(one, file)).length === 1)
        moves.set(known[0], file)
    }
  }
  return moves
}

function toKnownMatch(
  scan: Scan,
  path: string,
  base: FileState,
  move: FoundFile | undefined,
  val: ValState | undefined,
): readonly Match[] {
  const file = scan.files.get(path)
  if (file) return [{ path, base: completeBase(base, file), movedFrom: undefined, file, val }]
  if (move) {
    const asked =
      move.front.name === base.name && base.name !== undefined
        ? toNewValName(path, move.path, base.name)
        : undefined
    return [
      {
        path: move.path,
        base,
        movedFrom: path,
        file: asked === undefined ? move : { ...move, name: asked },
        val,
      },
    ]
  }
  // Unreadable or just deleted files are not matched yet.
  return scan.missing.has(path) ? [{ path, base, movedFrom: undefined, file: undefined, val }] : []
}

/** Fields that an older version did not record are taken from the file, if it is unchanged. */
function completeBase(base: FileState, file: FoundFile): FileState {
  if (base.hash !== file.hash) return base
  const { codeHash, name, privacy, type } = file
  return { codeHash, name, ...(privacy && { privacy }), ...(type && { type }), ...base }
}

/**
 * Matches each new file with the val of its name, if any; a name that another file has is a
 * problem.
 */
function matchFresh(
  fresh: readonly FoundFile[],
  known: readonly Match[],
  vals: readonly ValState[],
  knownIds: ReadonlySet<string>,
  problems: Map<string, string>,
): readonly Match[] {
  const valOf = new Map(vals.map((val) => [val.name.toLowerCase(), val]))
  // The paths that have a name: known files by their own name and by their val's, and other new
  // files.
  const holders = new Map<string, (string | undefined)[]>()
  const hold = (name: string | undefined, path: string | undefined) => {
    const key = name?.toLowerCase() ?? ""
    holders.set(key, [...(holders.get(key) ?? []), path])
  }
  for (const { path, file, val } of known)
    for (const name of [file?.name, val?.name]) hold(name, path)
  for (const { path, name } of fresh) hold(name, path)
  return fresh.flatMap((file): readonly Match[] => {
    const { path, name } = file
    const val = valOf.get(name.toLowerCase())
    const other = holders.get(name.toLowerCase())?.find((holder) => holder !== path)
    if (other !== undefined) problems.set(path, toClaim(path, name, other))
    if (other !== undefined || (val && knownIds.has(val.id))) return []
    return [{ path, base: undefined, movedFrom: undefined, file, val }]
  })
}

function toClaim(path: string, name: string, other: string): string {
  return `Cannot watch "${path}": "${other}" already has the name "${name}"; set another name in the first line of one of them`
}

/** Whether a blocked or new file could be the val of a name. */
function createClaims(
  scan: Scan,
  bases: ReadonlyMap<string, FileState>,
  fresh: readonly FoundFile[],
): (name: string) => boolean {
  const names = fresh.map(({ name }) => name.toLowerCase())
  for (const path of scan.blocked.keys()) if (!bases.has(path)) names.push(toStemKey(path))
  const claimed = new Set(names)
  return (name) => claimed.has(name.toLowerCase())
}

function toStemKey(path: string): string {
  return path
    .replace(/^.*\//, "")
    .replace(/\.[^.]+$/, "")
    .toLowerCase()
}
