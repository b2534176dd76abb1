import type { FileState } from "../../files/folder-state.ts"
import { isSameName, toNewValName } from "../paths.ts"
import type { ValState } from "../remote-vals.ts"
import type { FoundFile, Scan } from "../scan-folder.ts"

/** What belongs together: a val, its file, and what the folder has noted of both. */
export interface Match {
  /** Where the file is, or was last. */
  readonly path: string | undefined
  readonly base: FileState | undefined
  /** Where the folder thinks the file is, if that is elsewhere. */
  readonly movedFrom: string | undefined
  readonly file: FoundFile | undefined
  readonly val: ValState | undefined
}

/** What is in a folder and on the server, put together. */
export interface Matches {
  readonly matches: readonly Match[]
  /** Files that cannot be put together with anything, and why. */
  readonly problems: ReadonlyMap<string, string>
  /** Bases that are of no use any more. */
  readonly stale: readonly string[]
}

/** The three sides, before they are put together. */
export interface Unmatched {
  readonly bases: ReadonlyMap<string, FileState>
  readonly scan: Scan
  readonly vals: readonly ValState[]
  /** The id of whoever the vals belong to. */
  readonly owner: string
}

type Known = readonly [path: string, base: FileState]

/**
 * Puts together what belongs together: a file with the base of its path, or else with the base of a
 * file that is gone and that it must have been; a base with the val of its id; a new file with the
 * val of its name.
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
  const newcomers = fresh.filter(({ path }) => !moved.has(path))
  const free = vals.filter(({ id }) => !ids.has(id))
  const made = matchFresh(newcomers, known, vals, ids, problems)
  // The vals of new files are claimed too: those files have been put together with them, or cannot
  // be.
  const isClaimed = createClaims(scan, bases, newcomers)
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

/**
 * One base for each val of the owner's; a file that was fetched from somebody else is left alone.
 */
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
        foreign.set(path, `Cannot watch "${path}": its val belongs to somebody else`)
    } else if (!first) own.set(base.id, [path, base])
    else if (isThere(path)) foreign.set(path, toClaim(path, base.name ?? "", first[0]))
    else stale.push(path)
  }
  return { own: [...own.values()], foreign, stale }
}

/**
 * By the path of a file that is gone: the new file that must be it. The file system says so, or the
 * file does, or it has the same text, or at least the same code; where two could be meant, none is.
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
  // One that cannot be read, or has only just gone, is not spoken of.
  return scan.missing.has(path) ? [{ path, base, movedFrom: undefined, file: undefined, val }] : []
}

/** What an earlier program has not written down, the file still says if nobody has changed it. */
function completeBase(base: FileState, file: FoundFile): FileState {
  if (base.hash !== file.hash) return base
  const { codeHash, name, privacy, type } = file
  return { codeHash, name, ...(privacy && { privacy }), ...(type && { type }), ...base }
}

/**
 * Each new file with the val of its name, or with none; a name that is another file's is a problem.
 */
function matchFresh(
  fresh: readonly FoundFile[],
  known: readonly Match[],
  vals: readonly ValState[],
  knownIds: ReadonlySet<string>,
  problems: Map<string, string>,
): readonly Match[] {
  const valOf = new Map(vals.map((val) => [val.name.toLowerCase(), val]))
  // Whoever has a name: known files by what they say and by what their vals are called, and other
  // new files.
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
  return `Cannot watch "${path}": "${other}" is the val "${name}" already; give one of them another name in its first line`
}

/** Whether a file that nothing is done about could be the val of that name. */
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
