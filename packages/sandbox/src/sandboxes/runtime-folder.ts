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
import { Refused, sha256 } from "@hamlet/kit"
import { identityOf } from "./launch/process-identity.ts"
import { spreadFolders } from "./spread-folders.ts"
import { groupsFile, removeIfEmpty, sweepServers } from "./sweep.ts"

/** The kernel's limit for paths of Unix sockets, without the closing zero. */
const socketPathBytesMax = process.platform === "linux" ? 107 : 103
/** The longest socket path, after the server's folder. */
const sandboxPart = "/s999999/run/control.sock"
/** Tests run several servers in one process. */
const serversPerProcessMax = 1000
/** How many names are tried when other users have taken the first. */
const parentNamesMax = 10

/**
 * The temporary files of one server:
 *
 *   {tmp}/hamlet-{uid}-{hash of the data folder}/   all servers of this data folder, dead ones too;
 *                                                   a random name when another user has this one
 *     {identity of the process}.{number}/           this server
 *       guest.js  guest-compiler.js                 the main modules of the guest
 *       guest-script.js                             the guest
 *       resolve.js  compile.js                      other programs for sandboxes
 *       system-…                                    files of the system in sandboxes
 *       groups                                      the cgroup folders that this server creates
 *       {number}-{name}                             a copy of a program that sandboxes cannot reach
 *       files/                                      files of packages; see package-folders.ts
 *       emits/                                      modules and their JavaScript; see emit-folder.ts
 *       code/                                       compiled code of the guest; see code-cache.ts
 *       s{number}/                                  one sandbox
 *         run/  deno/  scratch/                     what it can reach; see sandbox-folder.ts
 *         process  bubblewrap                       its processes, for a later sweep
 */
export class RuntimeFolder {
  /** The folder of this server. */
  readonly path: string
  /** A unique name for what this server creates outside of the folder. */
  readonly name: string
  readonly #parent: string
  /** The reachable paths of files, by their original paths. */
  readonly #shared = new Map<string, string>()

  private constructor(parent: string, path: string) {
    this.#parent = parent
    this.path = path
    this.name = `${basename(parent)}-${basename(path)}`
  }

  /**
   * Creates the folder. With `sweeps` it removes what dead servers of this user have left, also
   * those of other data folders.
   */
  static async create(dataDir: string, endMsMax: number, sweeps = true): Promise<RuntimeFolder> {
    const parentName = toParentName(dataDir)
    const temporary = chooseTemporaryFolder(parentName)
    const folder = new RuntimeFolder(...createFirst(temporary, parentName))
    if (sweeps)
      await Promise.all(listParents(temporary).map((path) => sweepServers(path, endMsMax)))
    return folder
  }

  /** Records a cgroup folder, so that the next server can remove it if this one is killed. */
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
   * A path at which other users can read and execute a file: its own path, or a link in this folder
   * when a folder above the file is private, as the home of root is. On another disk it is a copy.
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
  // A link shares its mode with the file, so it must not be changed there.
  if ((statSync(from).mode & readAndExecute) === readAndExecute && tryToLink(from, to)) return
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, 0o755)
}

function tryToLink(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch {
    // Another disk, or a file system without links.
    return false
  }
}

function toParentName(dataDir: string): string {
  const hash = sha256(dataDir).toString("hex").slice(0, 8)
  return `hamlet-${ownUid()}-${hash}`
}

/** The folders of all data folders, without those that another user has created. */
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
 * Another user may have created a folder with our name. It is not used then: a random name cannot
 * be guessed, and the next server sweeps it too.
 */
function createFirst(temporary: string, parentName: string): [parent: string, path: string] {
  for (let attempt = 0; attempt < parentNamesMax; attempt++) {
    const name = attempt === 0 ? parentName : `hamlet-${ownUid()}-${randomBytes(4).toString("hex")}`
    const parent = join(temporary, name)
    const path = createOwn(parent)
    if (path !== undefined) return [parent, path]
  }
  throw new Refused(
    "sandbox_unavailable",
    `Cannot use the folder "${temporary}" for sandboxes: other users have taken every name there`,
  )
}

/** Undefined when the parent belongs to another user. */
function createOwn(parent: string): string | undefined {
  const identity = identityOf(process.pid)
  for (let number = 0; number < serversPerProcessMax; number++) {
    const path = join(parent, `${identity}.${number}`)
    // Every time, because a server that ends removes an empty parent.
    if (!claimParent(parent)) return undefined
    if (!makeFolder(path)) continue
    chmodSync(path, 0o711)
    spreadFolders(path)
    return path
  }
  throw new Refused(
    "sandbox_unavailable",
    `Cannot use the folder "${parent}" for sandboxes: this process has too many servers`,
  )
}

/**
 * Creates the parent. Other users, such as sandboxes, may pass through it but not write to it.
 * Returns false when it belongs to another user.
 */
function claimParent(parent: string): boolean {
  makeFolder(parent)
  const found = lstatSync(parent, { throwIfNoEntry: false })
  if (!found) return true
  if (!isOurs(found)) return false
  chmodSync(parent, 0o711)
  return true
}

/** Returns false when the folder exists, or its parent was removed meanwhile. */
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

/** For example because the disk is full or read-only. */
function unusable(folder: string, cause: unknown): Refused {
  const reason = cause instanceof Error ? cause.message : cause
  return new Refused(
    "sandbox_unavailable",
    `Cannot use the folder "${folder}" for sandboxes: ${reason}`,
    { cause },
  )
}
