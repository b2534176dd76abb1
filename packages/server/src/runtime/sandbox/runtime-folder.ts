import { randomBytes } from "node:crypto"
import {
  appendFileSync,
  chmodSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { AppError } from "../../domain/app-error.ts"
import { identityOf } from "./launch/process-identity.ts"
import { groupsFile, removeIfEmpty, sweepServers } from "./sweep.ts"

/** Longer addresses of Unix sockets are refused; the closing zero counts too. */
const socketPathBytesMax = process.platform === "linux" ? 107 : 103
/** What follows after the server's folder in the longest of them. */
const sandboxPart = "/s999999/run/control.sock"
/** A server may be in one process more than once, as in tests. */
const serversPerProcessMax = 1000
/** How many names are tried where other users have taken the first. */
const parentNamesMax = 10

/**
 * The temporary files of one server:
 *
 *   {tmp}/hamlet-{uid}-{hash of the data folder}/     of all servers of this data folder, also dead ones; a random name where somebody
 *                                                     else has taken this one
 *     {identity of the process}.{number}/             of this server
 *       guest.js  resolve.js  compile.js  groups      programs for sandboxes; the cgroup folders that this server makes
 *       {number}-{name}                               a program that sandboxes could not reach where it is
 *       s{number}/                                    of one sandbox
 *         run/  deno/  scratch/                       what it can reach; see sandbox-folder.ts
 *         process  bubblewrap                         who it is, for whoever has to sweep
 */
export class RuntimeFolder {
  /** Of this server. */
  readonly path: string
  /** A name for what has to have one outside of the folder. */
  readonly name: string
  readonly #parent: string
  /** Where files are that others reach, by their own paths. */
  readonly #shared = new Map<string, string>()

  private constructor(parent: string, path: string) {
    this.#parent = parent
    this.path = path
    this.name = `${basename(parent)}-${basename(path)}`
  }

  /**
   * Makes the folder, and removes what dead servers of this user have left, of whatever data
   * folder, unless it `sweeps` nothing.
   */
  static async create(dataDir: string, endMsMax: number, sweeps = true): Promise<RuntimeFolder> {
    const parentName = toParentName(dataDir)
    const temporary = chooseTemporaryFolder(parentName)
    const folder = createFirst(
      temporary,
      parentName,
      (parent, path) => new RuntimeFolder(parent, path),
    )
    if (sweeps)
      await Promise.all(listParents(temporary).map((path) => sweepServers(path, endMsMax)))
    return folder
  }

  /** Leaves word of a cgroup folder, for the next server if this one is killed. */
  noteGroup(folder: string): void {
    appendFileSync(join(this.path, groupsFile), `${folder}\n`)
  }

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name)
    try {
      writeFileSync(path, content, { mode: 0o644 })
      chmodSync(path, 0o644)
    } catch (cause) {
      throw unusable(this.path, cause)
    }
    return path
  }

  /**
   * A path at which other users can read and execute a file: its own, or one in this folder where a
   * folder above it lets only its owner through, as the home of root does. A link costs nothing;
   * only on another disk it is a copy.
   */
  share(path: string): string {
    const known = this.#shared.get(path)
    if (known !== undefined) return known
    const real = realpathSync(path)
    const shared = isReachable(real)
      ? real
      : join(this.path, `${this.#shared.size}-${basename(real)}`)
    try {
      if (shared !== real) linkOrCopy(real, shared)
    } catch (cause) {
      throw unusable(this.path, cause)
    }
    this.#shared.set(path, shared)
    return shared
  }

  stop(): void {
    rmSync(this.path, { recursive: true, force: true })
    removeIfEmpty(this.#parent)
  }
}

function chooseTemporaryFolder(parentName: string): string {
  const folder = tmpdir()
  const longest = join(folder, parentName, `${identityOf(process.pid)}.0`) + sandboxPart
  const isUsable =
    Buffer.byteLength(longest) <= socketPathBytesMax && (ownUid() !== 0 || canPass(folder))
  return isUsable ? folder : "/tmp"
}

/** Whether other users may read and execute the file. */
function isReachable(path: string): boolean {
  return (statSync(path).mode & readAndExecute) === readAndExecute && canPass(dirname(path))
}

const readAndExecute = 0o005

/** Whether other users may pass through the folder and all above it. */
function canPass(folder: string): boolean {
  return (
    (statSync(folder).mode & 0o001) !== 0 &&
    (folder === dirname(folder) || canPass(dirname(folder)))
  )
}

function linkOrCopy(from: string, to: string): void {
  // The mode belongs to the file: changed at a link, it would be changed for all.
  if ((statSync(from).mode & readAndExecute) === readAndExecute && tryToLink(from, to)) return
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, 0o755)
}

function tryToLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch {
    // It is on another disk, or on one without links.
    return false
  }
}

function toParentName(dataDir: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(dataDir).digest("hex").slice(0, 8)
  return `hamlet-${ownUid()}-${hash}`
}

/**
 * Those of other data folders included, but nothing that somebody else has put there under such a
 * name.
 */
function listParents(temporary: string): string[] {
  const prefix = `hamlet-${ownUid()}-`
  return readdirSync(temporary)
    .filter((name) => name.startsWith(prefix) && /^[0-9a-f]{8}$/.test(name.slice(prefix.length)))
    .map((name) => join(temporary, name))
    .filter((path) => {
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found !== undefined && isOurs(found)
    })
}

function isOurs(found: Stats): boolean {
  return found.isDirectory() && found.uid === ownUid()
}

function ownUid(): number {
  return process.getuid?.() ?? 0
}

/**
 * Anybody may make a folder with our name before we do. It could be anything, so it is not used; a
 * random name is one that nobody can have taken, and the next server sweeps that too.
 */
function createFirst(
  temporary: string,
  parentName: string,
  build: (parent: string, path: string) => RuntimeFolder,
): RuntimeFolder {
  for (let attempt = 0; attempt < parentNamesMax; attempt++) {
    const name = attempt === 0 ? parentName : `hamlet-${ownUid()}-${randomBytes(4).toString("hex")}`
    const parent = join(temporary, name)
    const path = createOwn(parent)
    if (path !== undefined) return build(parent, path)
  }
  throw new AppError(
    "sandbox_unavailable",
    `Cannot use the folder "${temporary}" for sandboxes: others have taken every name there`,
  )
}

/** Undefined when the parent belongs to somebody else. */
function createOwn(parent: string): string | undefined {
  const identity = identityOf(process.pid)
  for (let number = 0; number < serversPerProcessMax; number++) {
    const path = join(parent, `${identity}.${number}`)
    // Anew each time: a server that ends now removes the parent if nobody else is in it.
    if (!claimParent(parent)) return undefined
    if (!makeFolder(path)) continue
    chmodSync(path, 0o711)
    return path
  }
  throw new AppError(
    "sandbox_unavailable",
    `Cannot use the folder "${parent}" for sandboxes: this process has too many servers in it`,
  )
}

/**
 * Others may pass through, since sandboxes are other users, but nobody else may put anything there.
 * False when it is not ours.
 */
function claimParent(parent: string): boolean {
  makeFolder(parent)
  const found = lstatSync(parent, { throwIfNoEntry: false })
  if (!found) return true
  if (!isOurs(found)) return false
  chmodSync(parent, 0o711)
  return true
}

/** False when it is there already, or its parent is gone again. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o711 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST" || code === "ENOENT") return false
    throw unusable(dirname(path), error)
  }
}

/** The disk is full or read-only, or the folder is not for us. */
function unusable(folder: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : cause
  return new AppError(
    "sandbox_unavailable",
    `Cannot use the folder "${folder}" for sandboxes: ${reason}`,
    { cause },
  )
}
