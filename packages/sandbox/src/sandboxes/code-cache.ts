import { Database, SQLiteError } from "bun:sqlite"
import { chmodSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { type GuestMessage, guestScript, type HostMessage } from "@hamlet/guest/protocol"
import type { ProgramModule } from "../program/program-module.ts"
import { linkOrCopySync } from "./packages/package-folders.ts"
import type { SandboxExit } from "./sandbox-exit.ts"

/** Deno's database of compiled code, in its cache folder. */
const fileName = "v8_code_cache_v2"
/** How often a process is asked again that locks it. */
const lockRetryMs = 20
/** The files of its journal. */
const journalEnds = ["-wal", "-shm"] as const

/** The modules of Node that packages use most. They load most of the others. */
const nodeModules: readonly string[] = [
  "async_hooks",
  "buffer",
  "child_process",
  "crypto",
  "events",
  "fs",
  "http",
  "https",
  "module",
  "net",
  "os",
  "path",
  "process",
  "stream",
  "timers",
  "tls",
  "url",
  "util",
  "vm",
  "zlib",
]

/** A process that may write to Deno's cache folder, and never gets a program. */
export interface CompilingProcess {
  onMessage: ((message: GuestMessage, bytes: number) => void) | undefined
  readonly denoDir: string
  readonly exited: Promise<SandboxExit>
  readonly isEnding: boolean
  addModules(modules: readonly ProgramModule[]): Promise<void>
  send(message: HostMessage): void
}

/**
 * The compiled code of the guest, and of the parts of Deno and Node that it and many programs load. A
 * process that finds it in its cache folder starts with a fifth less CPU time than one that compiles
 * all of that. Processes can only read it, and it comes from one that never gets a program, so that no
 * program can change it.
 */
export class CodeCache {
  readonly #folder: string
  #open: Database | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Has a process compile, and takes over the result. */
  async fill(process: CompilingProcess, exampleUrl: string, msMax: number): Promise<void> {
    const late = new Promise((resolve) => setTimeout(resolve, msMax).unref())
    await forgetGuest(process, performance.now() + msMax)
    await Promise.race([load(process, exampleUrl), process.exited, late])
    if (process.isEnding) {
      const { reason, message } = await process.exited
      // The server stops.
      if (reason === "killed") return
      throw new Error(`Cannot make the code cache in a sandbox: ${message}`)
    }
    mkdirSync(this.#folder, { mode: 0o700 })
    const path = join(this.#folder, fileName)
    using compiled = new Database(join(process.denoDir, fileName), { readwrite: true })
    const guest = compiled.query("select 1 from codecache where specifier = ?")
    if (guest.get(guestScript.name) === null)
      throw new Error("Cannot use Deno's code cache: it does not have the guest")
    compiled.query("vacuum into ?").run(path)
    this.#open = prepare(path)
  }

  /** Puts it into the cache folder of a process that is about to start, once there is one. */
  provide(denoDir: string): boolean {
    if (!this.#open) return false
    for (const end of ["", ...journalEnds])
      linkOrCopySync(join(this.#folder, fileName + end), join(denoDir, fileName + end))
    return true
  }

  stop(): void {
    this.#open?.close()
    this.#open = undefined
  }
}

/** What V8 had compiled before the guest ran. Deno stores only what it does not find. */
async function forgetGuest(process: CompilingProcess, untilMs: number): Promise<void> {
  while (!process.isEnding) {
    using compiled = new Database(join(process.denoDir, fileName), { readwrite: true })
    try {
      compiled.query("delete from codecache where specifier = ?").run(guestScript.name)
      return
    } catch (error) {
      // The process is storing something else.
      const isBusy = error instanceof SQLiteError && error.code?.startsWith("SQLITE_BUSY")
      if (!isBusy || performance.now() >= untilMs) throw error
    }
    await Bun.sleep(lockRetryMs)
  }
}

/**
 * Has the process load Node's modules, and compile the guest again, as if a module of ours were a
 * program.
 */
async function load(process: CompilingProcess, exampleUrl: string): Promise<void> {
  const url = `${exampleUrl}/node`
  const imports = nodeModules.map((name) => `import "node:${name}"\n`)
  const code = `${imports.join("")}setTimeout(() => {})\nglobalThis.compileAgain()\n`
  const names = { label: "example", runId: "example", scheme: "http", endpoint: url }
  const loaded = Promise.withResolvers<void>()
  process.onMessage = () => loaded.resolve()
  await process.addModules([{ url, code, type: "js" }])
  const limits = { logBytesMax: 0, returnBytesMax: 0 }
  process.send({ kind: "load", url, ...names, isHttp: false, limits })
  process.send({ kind: "surroundings", env: {}, egressKey: "" })
  process.send({ kind: "begin", builtIns: nodeModules, packages: "cached" })
  await loaded.promise
}

/**
 * Changes what Deno would change when it opens the database: a process that cannot ignores it. It
 * stays open here: SQLite then trusts the files of the journal in the processes, and does not read
 * the database anew for each module.
 */
function prepare(path: string): Database {
  const cache = new Database(path, { readwrite: true })
  try {
    // A guest that warms up then finds no code of the example, as it finds none of a program.
    cache.run("delete from codecache where specifier like 'http%'")
    cache.run("analyze")
    cache.run("pragma journal_mode = wal")
    cache.query("select count(*) from codecache").get()
    for (const end of ["", ...journalEnds]) chmodSync(path + end, 0o644)
    return cache
  } catch (error) {
    cache.close()
    throw error
  }
}
