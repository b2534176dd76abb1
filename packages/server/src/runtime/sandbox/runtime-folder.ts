import { appendFileSync, chmodSync, lstatSync, mkdirSync, readdirSync, rmSync, type Stats, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { AppError } from "../../domain/app-error.ts"
import { identityOf } from "./process-identity.ts"
import { groupsFile, removeIfEmpty, sweepServers } from "./sweep.ts"

/** Longer addresses of Unix sockets are refused; the closing zero counts too. */
const socketPathBytesMax = process.platform === "linux" ? 107 : 103
/** What follows after the server's folder in the longest of them. */
const sandboxPart = "/s999999/run/control.sock"
/** A server may be in one process more than once, as in tests. */
const serversPerProcessMax = 1000

/**
 * The temporary files of one server:
 *
 *   {tmp}/hamlet-{uid}-{hash of the data folder}/     of all servers of this data folder, also dead ones
 *     {identity of the process}.{number}/             of this server
 *       guest.js  resolve.js  compile.js  groups      programs for sandboxes; the cgroup folders that this server makes
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

  private constructor(parent: string, path: string) {
    this.#parent = parent
    this.path = path
    this.name = `${basename(parent)}-${basename(path)}`
  }

  /** Makes the folder, and removes what dead servers of this user have left, of whatever data folder, unless it `sweeps` nothing. */
  static async create(dataDir: string, endMsMax: number, sweeps = true): Promise<RuntimeFolder> {
    const parentName = toParentName(dataDir)
    const temporary = chooseTemporaryFolder(parentName)
    const parent = join(temporary, parentName)
    const folder = new RuntimeFolder(parent, createOwn(parent))
    if (sweeps) await Promise.all(listParents(temporary).map((path) => sweepServers(path, endMsMax)))
    return folder
  }

  /** Leaves word of a cgroup folder, for the next server if this one is killed. */
  noteGroup(folder: string): void {
    appendFileSync(join(this.path, groupsFile), `${folder}\n`)
  }

  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name)
    writeFileSync(path, content, { mode: 0o644 })
    chmodSync(path, 0o644)
    return path
  }

  stop(): void {
    rmSync(this.path, { recursive: true, force: true })
    removeIfEmpty(this.#parent)
  }
}

function chooseTemporaryFolder(parentName: string): string {
  const folder = tmpdir()
  const longest = join(folder, parentName, `${identityOf(process.pid)}.0`) + sandboxPart
  return Buffer.byteLength(longest) <= socketPathBytesMax ? folder : "/tmp"
}

function toParentName(dataDir: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(dataDir).digest("hex").slice(0, 8)
  return `hamlet-${ownUid()}-${hash}`
}

/** Those of other data folders included, but nothing that somebody else has put there under such a name. */
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

function createOwn(parent: string): string {
  const identity = identityOf(process.pid)
  for (let number = 0; number < serversPerProcessMax; number++) {
    const path = join(parent, `${identity}.${number}`)
    // Anew each time: a server that ends now removes the parent if nobody else is in it.
    claimParent(parent)
    if (!makeFolder(path)) continue
    chmodSync(path, 0o711)
    return path
  }
  throw new AppError("sandbox_unavailable", `Cannot use the folder "${parent}" for sandboxes: this process has too many servers in it`)
}

/** Others may pass through, since sandboxes are other users, but nobody else may put anything there. */
function claimParent(parent: string): void {
  makeFolder(parent)
  const found = lstatSync(parent, { throwIfNoEntry: false })
  if (!found) return
  if (!isOurs(found))
    throw new AppError("sandbox_unavailable", `Cannot use the folder "${parent}" for sandboxes: it belongs to somebody else`)
  chmodSync(parent, 0o711)
}

/** False when it is there already, or its parent is gone again. */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o711 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EEXIST" || code === "ENOENT") return false
    throw error
  }
}
