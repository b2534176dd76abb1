import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { lchown, readdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AppError } from "../../domain/app-error.ts"
import {
  type BubblewrapMode,
  type BubblewrapTools,
  insideMaps,
  stackMap,
  toBubblewrapCommand,
} from "../sandbox/commands/bubblewrap-command.ts"
import { bundleProgram } from "../sandbox/commands/bundle-program.ts"
import { findBubblewrap } from "../sandbox/commands/find-bubblewrap.ts"
import { listLibraries } from "../sandbox/isolation.ts"
import { createSystemCallFilter } from "../sandbox/seccomp/system-call-filter.ts"
import { chooseWorkerUser } from "../sandbox/user-range.ts"

/**
 * A program of ours on Bun that works on what users have written, for many requests: it parses
 * code, or runs statements.
 */
export interface WorkerOptions {
  readonly isolation: "auto" | "bubblewrap" | "deno"
  /** Its main file. */
  readonly program: string
  /** The one folder of the host that it may see, and write to. */
  readonly folder?: string
  /**
   * Told in a sentence that there is bubblewrap, and workers are without a sandbox all the same.
   */
  readonly onWeak?: ((message: string) => void) | undefined
}

/** How workers are started. */
export interface WorkerLaunch {
  /** Whether they are in a sandbox: a process of bubblewrap is then around each of them. */
  readonly isBoxed: boolean
  /** The folder by the name that they see it under. */
  readonly folder: string | undefined
  /**
   * What the command expects as its file descriptors from the fourth on. The third is for whatever
   * is said.
   */
  readonly descriptors: readonly number[]
  toCommand(args: readonly string[], cpuSecondsMax: number): string[]
  /** Makes the folder if it is not there, and lets workers write to it. */
  openFolder(): void
}

/** How long a machine may take to show that it can start one. */
const tryMsMax = 20_000
const inside = { bun: "/bun", program: "/worker.js", folder: "/databases" }
const descriptorNumbers = { filter: 4, maps: 5, program: 6 }
const scratchBytesMax = 1_048_576
const isRoot = process.getuid?.() === 0

/**
 * Finds out how workers can be started on this machine: in bubblewrap, with the same walls as
 * around a val, but for the one folder. Without it they are ordinary processes of the server,
 * unless bubblewrap is asked for.
 */
export async function prepareWorkers({
  isolation,
  program,
  folder,
  onWeak,
}: WorkerOptions): Promise<WorkerLaunch> {
  const bwrap = isolation === "deno" || process.platform !== "linux" ? undefined : findBubblewrap()
  const box = bwrap && (await getBox(bwrap, program, folder !== undefined))
  if (box) {
    const launch = new BoxedLaunch(box, folder)
    await launch.claimFolder()
    return launch
  }
  if (isolation === "bubblewrap")
    throw new AppError(
      "sandbox_unavailable",
      "Cannot start a worker: bubblewrap does not work here",
    )
  if (bwrap) onWeak?.("Cannot put workers into a sandbox: bubblewrap does not work for them here")
  return new BareLaunch(program, folder)
}

/** A sandbox that was tried, and the files that are open for it. */
interface WorkerBox {
  readonly tools: BubblewrapTools
  readonly way: BubblewrapMode
  readonly uid: number | undefined
  readonly descriptors: readonly number[]
}

/**
 * What works on this machine, by program. It does not change while the server runs, and to find it
 * out takes a few tenths of a second.
 */
const boxes = new Map<string, Promise<WorkerBox | undefined>>()

async function getBox(
  bwrap: string,
  program: string,
  hasFolder: boolean,
): Promise<WorkerBox | undefined> {
  const finding = boxes.get(program) ?? findBox(bwrap, program, hasFolder)
  boxes.set(program, finding)
  const box = await finding.catch(() => undefined)
  // The machine may just have been out of something.
  if (!box) boxes.delete(program)
  return box
}

async function findBox(
  bwrap: string,
  program: string,
  hasFolder: boolean,
): Promise<WorkerBox | undefined> {
  const user = isRoot ? chooseWorkerUser() : undefined
  const setpriv = Bun.which("setpriv") ?? undefined
  if (isRoot && (!setpriv || user === undefined)) return undefined
  const bun = realpathSync(process.execPath)
  const filter = createSystemCallFilter(process.arch, { canFork: false })
  const tools: BubblewrapTools = {
    bwrap,
    setpriv,
    canDisableUserns: (await Bun.$`${bwrap} --help`.quiet().text()).includes("--disable-userns"),
    program: bun,
    libraries: listLibraries(isRoot && setpriv ? [bun, setpriv] : [bun]),
    hasFilter: filter !== undefined,
  }
  const descriptors = [filter ?? "", stackMap, await bundleProgram(program, "bun")].map(openHidden)
  for (const way of listWays(hasFolder)) {
    const box = { tools, way, uid: way === "own" ? process.getuid?.() : user, descriptors }
    if (await isWorking(box)) return box
  }
  for (const descriptor of descriptors) closeSync(descriptor)
  return undefined
}

/**
 * The best first. A user without rights cannot get at a folder of the server's, so where there is
 * one, root makes it visible. The last is for containers that do not let root do that: root without
 * any capability, in a user namespace.
 */
function listWays(hasFolder: boolean): readonly BubblewrapMode[] {
  if (!isRoot) return ["own"]
  return hasFolder ? ["inside", "own"] : ["outside", "inside", "own"]
}

async function isWorking(box: WorkerBox): Promise<boolean> {
  const child = Bun.spawn({
    cmd: new BoxedLaunch(box, undefined).toTrial(),
    env: {},
    stdio: ["ignore", "ignore", "ignore", "ignore", ...box.descriptors],
    timeout: tryMsMax,
    killSignal: "SIGKILL",
  })
  return (await child.exited) === 0
}

class BoxedLaunch implements WorkerLaunch {
  readonly isBoxed = true
  readonly folder: string | undefined
  readonly #box: WorkerBox
  readonly #outside: string | undefined
  #uid: number | undefined

  constructor(box: WorkerBox, folder: string | undefined) {
    this.#box = box
    this.#uid = box.uid
    this.#outside = folder
    this.folder = folder && inside.folder
  }

  get descriptors(): readonly number[] {
    return this.#box.descriptors
  }

  toCommand(args: readonly string[], cpuSecondsMax: number): string[] {
    return this.#toCommand([inside.program, ...args], cpuSecondsMax)
  }

  /** A command that only shows whether it works. */
  toTrial(): string[] {
    return this.#toCommand(["-e", "0"], Math.ceil(tryMsMax / 1000))
  }

  openFolder(): void {
    if (this.#outside === undefined) return
    mkdirSync(this.#outside, { recursive: true, mode: 0o700 })
    if (isRoot && statSync(this.#outside).uid !== this.#uid)
      chownSync(this.#outside, this.#uid ?? 0, this.#uid ?? 0)
  }

  /**
   * Gives the folder with all that is in it to the user of the workers. Where root may not do that,
   * as in a folder of another machine, the workers are the user to whom it belongs.
   */
  async claimFolder(): Promise<void> {
    if (this.#outside === undefined || !isRoot) return
    const uid = this.#uid ?? 0
    try {
      this.openFolder()
      for (const name of await readdir(this.#outside))
        await lchown(join(this.#outside, name), uid, uid)
    } catch {
      this.#uid = statSync(this.#outside, { throwIfNoEntry: false })?.uid ?? uid
    }
  }

  #toCommand(args: readonly string[], cpuSecondsMax: number): string[] {
    const { tools, way } = this.#box
    const box = {
      uid: this.#uid,
      // It is not the server's: the shell gets nothing but what the worker is to have.
      environment: undefined,
      data: { [insideMaps]: descriptorNumbers.maps, [inside.program]: descriptorNumbers.program },
      readable: {},
      writable: this.#outside === undefined ? {} : { [inside.folder]: this.#outside },
      scratchBytesMax,
      program: inside.bun,
      isReported: false,
      // When the server is killed, bubblewrap's process outside may not send a signal to another
      // user, but to its own inside.
      isFirst: way !== "inside",
    }
    const command = toBubblewrapCommand(tools, way, box, [inside.bun, "--smol", ...args])
    return [
      "/bin/sh",
      "-c",
      `${limitScript} ${reopenScript} exec "$@"`,
      "sh",
      String(cpuSecondsMax),
      ...command,
    ]
  }
}

/** An ordinary process of the server's, on machines without bubblewrap. */
class BareLaunch implements WorkerLaunch {
  readonly isBoxed = false
  readonly folder: string | undefined
  readonly descriptors = []
  readonly #program: string

  constructor(program: string, folder: string | undefined) {
    this.#program = program
    this.folder = folder
  }

  toCommand(args: readonly string[], cpuSecondsMax: number): string[] {
    const command = [process.execPath, "--smol", this.#program, ...args]
    return ["/bin/sh", "-c", `${limitScript} exec "$@"`, "sh", String(cpuSecondsMax), ...command]
  }

  openFolder(): void {
    if (this.folder !== undefined) mkdirSync(this.folder, { recursive: true, mode: 0o700 })
  }
}

/**
 * Sets what only a process can set for itself: no core dumps, and no more processor time than `$1`
 * seconds. Ctrl-C is for the server.
 */
const limitScript = 'trap "" HUP INT TERM; ulimit -c 0; ulimit -t "$1"; shift;'

/** All workers have the same open files, and each of them reads these from the beginning. */
const reopenScript = Object.values(descriptorNumbers)
  .map((number) => `exec ${number}</proc/self/fd/${number} || exit 1;`)
  .join(" ")

/** A file that has no name, so that nothing is left of it when the server ends, in whatever way. */
function openHidden(content: string | Uint8Array): number {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-worker-"))
  try {
    const path = join(folder, "file")
    writeFileSync(path, content)
    return openSync(path, "r")
  } finally {
    rmSync(folder, { recursive: true })
  }
}
