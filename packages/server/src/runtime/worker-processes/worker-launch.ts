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

/** A program of ours on Bun that works on untrusted input, such as a parser. */
export interface WorkerOptions {
  readonly isolation: "auto" | "bubblewrap" | "deno"
  /** Its main file. */
  readonly program: string
  /** The only folder of the host that it can read and write. */
  readonly folder?: string
  /** Called with a sentence when bubblewrap is installed but does not work for workers. */
  readonly onWeak?: ((message: string) => void) | undefined
}

/** How workers start on this machine. */
export interface WorkerLaunch {
  /** Whether they run in a sandbox, with a bubblewrap process around each. */
  readonly isBoxed: boolean
  /** The path of the folder as they see it. */
  readonly folder: string | undefined
  /** The file descriptors of the command from 4 on. Descriptor 3 is for messages. */
  readonly descriptors: readonly number[]
  toCommand(args: readonly string[], cpuSecondsMax: number): string[]
  /** Creates the folder if it does not exist, and lets workers write to it. */
  openFolder(): void
}

/** How long a trial start may take. */
const tryMsMax = 20_000
const inside = { bun: "/bun", program: "/worker.js", folder: "/databases" }
const descriptorNumbers = { filter: 4, maps: 5, program: 6 }
const scratchBytesMax = 1_048_576
const isRoot = process.getuid?.() === 0

/**
 * Finds out how workers can start on this machine: in bubblewrap, isolated like a val except for
 * the one folder. Without bubblewrap they are ordinary processes of the server, unless the operator
 * requires bubblewrap.
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

/** A sandbox that works, and the files that are open for it. */
interface WorkerBox {
  readonly tools: BubblewrapTools
  readonly mode: BubblewrapMode
  readonly uid: number | undefined
  readonly descriptors: readonly number[]
}

/** What works on this machine, by program. Finding it takes a few tenths of a second. */
const boxes = new Map<string, Promise<WorkerBox | undefined>>()

async function getBox(
  bwrap: string,
  program: string,
  hasFolder: boolean,
): Promise<WorkerBox | undefined> {
  const finding = boxes.get(program) ?? findBox(bwrap, program, hasFolder)
  boxes.set(program, finding)
  const box = await finding.catch(() => undefined)
  // It may have failed for a temporary reason.
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
  for (const mode of listModes(hasFolder)) {
    const box = { tools, mode, uid: mode === "own" ? process.getuid?.() : user, descriptors }
    if (await isWorking(box)) return box
  }
  for (const descriptor of descriptors) closeSync(descriptor)
  return undefined
}

/**
 * The strongest first. An unprivileged user cannot bind a folder of the server, so with a folder
 * root starts bubblewrap. The last mode is for containers that do not allow that to root: root
 * without any capability, in a user namespace.
 */
function listModes(hasFolder: boolean): readonly BubblewrapMode[] {
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

  /** A command that only tries whether the sandbox works. */
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
   * Makes the workers' user the owner of the folder and its files. Where root may not do that, for
   * example on a network file system, the workers run as the owner of the folder.
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
    const { tools, mode } = this.#box
    const box = {
      uid: this.#uid,
      // The shell was started with the environment of the worker, not of the server.
      environment: undefined,
      data: { [insideMaps]: descriptorNumbers.maps, [inside.program]: descriptorNumbers.program },
      readable: {},
      writable: this.#outside === undefined ? {} : { [inside.folder]: this.#outside },
      scratchBytesMax,
      program: inside.bun,
      isReported: false,
      // When the server is killed, bubblewrap's outer process cannot kill a process of another
      // user, but it can kill bubblewrap's process 1 inside.
      isFirst: mode !== "inside",
    }
    const command = toBubblewrapCommand(tools, mode, box, [inside.bun, "--smol", ...args])
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

/** An ordinary process of the server, on machines without bubblewrap. */
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
 * Sets what a process can only set for itself: no core dumps, and a CPU time of `$1` seconds.
 * Signals such as Ctrl-C are meant for the server.
 */
const limitScript = 'trap "" HUP INT TERM; ulimit -c 0; ulimit -t "$1"; shift;'

/** All workers share these open files. Reopening gives each a read position of its own. */
const reopenScript = Object.values(descriptorNumbers)
  .map((number) => `exec ${number}</proc/self/fd/${number} || exit 1;`)
  .join(" ")

/** An open file without a name, so that nothing is left when the server is killed. */
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
