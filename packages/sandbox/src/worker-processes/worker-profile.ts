import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { lchown, readdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Refused } from "@hamlet/kit"
import { bundleProgram } from "../sandboxes/bundle-program.ts"
import { type BubblewrapMode, stackMap } from "../sandboxes/launch/bubblewrap-command.ts"
import {
  findBubblewrap,
  type Isolation,
  isRoot,
  listIsolations,
  type WantedIsolation,
} from "../sandboxes/launch/isolation.ts"
import type { LaunchedProcess } from "../sandboxes/launch/launched-process.ts"
import { launch, type Profile } from "../sandboxes/launch/launcher.ts"
import { createSeccompFilter } from "../sandboxes/seccomp/seccomp-filter.ts"
import { chooseWorkerUser } from "../sandboxes/user-range.ts"

/** A program of ours on Bun that works on untrusted input, such as a parser. */
export interface WorkerOptions {
  readonly isolation: WantedIsolation
  /** Its main file. */
  readonly program: string
  /** The only folder of the host that it can read and write. */
  readonly folder?: string
  /** Called with a sentence when bubblewrap is installed but does not work for workers. */
  readonly onWeak?: ((message: string) => void) | undefined
}

/** How long a trial start may take. */
const tryMsMax = 20_000
const insideFolder = "/databases"
/** Descriptor 3 is for messages. */
const descriptors = { filter: 4, maps: 5, program: 6 }
const scratchBytesMax = 1_048_576

/**
 * Finds out how workers can start on this machine: in bubblewrap, isolated like a program except for
 * the one folder. Without bubblewrap they are ordinary processes of the server, unless the operator
 * requires bubblewrap.
 */
export async function prepareWorkers({
  isolation: wanted,
  program,
  folder,
  onWeak,
}: WorkerOptions): Promise<WorkerLauncher> {
  const box = wanted === "deno" ? undefined : await getBox(program, folder !== undefined)
  if (!box && wanted === "bubblewrap")
    throw new Refused("sandbox_unavailable", "Cannot start a worker: bubblewrap does not work here")
  if (!box && wanted === "auto" && findBubblewrap() !== undefined)
    onWeak?.("Cannot put workers into a sandbox: bubblewrap does not work for them here")
  const launcher = new WorkerLauncher(box ?? createBare(), program, folder)
  await launcher.claimFolder()
  return launcher
}

/** An isolation that works, and the files that are open for it, from descriptor 4 on. */
interface WorkerBox {
  readonly isolation: Isolation
  readonly uid: number | undefined
  readonly files: readonly number[]
}

function createBare(): WorkerBox {
  const [isolation] = listIsolations(process.execPath, "deno", false).isolations
  return { isolation: isolation as Isolation, uid: undefined, files: [] }
}

/** What works on this machine, by program. Finding it takes a few tenths of a second. */
const boxes = new Map<string, Promise<WorkerBox | undefined>>()

async function getBox(program: string, hasFolder: boolean): Promise<WorkerBox | undefined> {
  const finding = boxes.get(program) ?? findBox(program, hasFolder)
  boxes.set(program, finding)
  const box = await finding.catch(() => undefined)
  // The box may be missing for a temporary reason.
  if (!box) boxes.delete(program)
  return box
}

async function findBox(program: string, hasFolder: boolean): Promise<WorkerBox | undefined> {
  const user = isRoot ? chooseWorkerUser() : process.getuid?.()
  const filter = createSeccompFilter("worker")
  const modes = listModes(hasFolder)
  const { isolations } = listIsolations(process.execPath, "bubblewrap", !!filter, modes)
  if (user === undefined || isolations.length === 0) return undefined
  const contents = [filter ?? "", stackMap.content, await bundleProgram(program, "bun")]
  const files = contents.map(openHidden)
  for (const isolation of isolations) {
    const box = { isolation, uid: isolation.hasOwnUser ? user : process.getuid?.(), files }
    if (await new WorkerLauncher(box, program, undefined).isWorking()) return box
  }
  for (const file of files) closeSync(file)
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

/** Starts the workers of one program. */
export class WorkerLauncher {
  /** The path of the folder as they see it. */
  readonly folder: string | undefined
  readonly #box: WorkerBox
  readonly #outside: string | undefined
  readonly #profile: Profile
  #uid: number | undefined

  constructor(box: WorkerBox, program: string, folder: string | undefined) {
    this.#box = box
    this.#uid = box.uid
    this.#outside = folder
    this.folder = folder && (box.isolation.bubblewrap ? insideFolder : folder)
    this.#profile = toWorkerProfile(program, folder)
  }

  /** Starts a worker. Its descriptor 3 is a socket. */
  start(args: readonly string[], cpuSecondsMax: number): LaunchedProcess {
    this.#openFolder()
    return this.#launch("pipe", cpuSecondsMax, (command) => [...command, ...args])
  }

  /** Whether a process starts in the sandbox. */
  async isWorking(): Promise<boolean> {
    const trial = this.#launch("ignore", Math.ceil(tryMsMax / 1000), ([bun = ""]) => [
      bun,
      "-e",
      "0",
    ])
    const timer = setTimeout(() => trial.kill(), tryMsMax)
    const code = await trial.child.exited
    clearTimeout(timer)
    return code === 0
  }

  /**
   * Makes the workers' user the owner of the folder, its files and its folders. Where root may not do that, for
   * example on a network file system, the workers run as the owner of the folder.
   */
  async claimFolder(): Promise<void> {
    if (this.#outside === undefined || !isRoot || this.#uid === undefined) return
    const uid = this.#uid
    try {
      this.#openFolder()
      for (const path of await listPaths(this.#outside)) await lchown(path, uid, uid)
    } catch {
      this.#uid = statSync(this.#outside, { throwIfNoEntry: false })?.uid ?? uid
    }
  }

  /** Creates the folder if it does not exist, and lets workers write to it. */
  #openFolder(): void {
    if (this.#outside === undefined) return
    mkdirSync(this.#outside, { recursive: true, mode: 0o700 })
    if (isRoot && this.#uid !== undefined && statSync(this.#outside).uid !== this.#uid)
      chownSync(this.#outside, this.#uid, this.#uid)
  }

  #launch(
    messages: "pipe" | "ignore",
    cpuSecondsMax: number,
    toCommand: (command: readonly string[]) => readonly string[],
  ): LaunchedProcess {
    const { isolation, files } = this.#box
    const profile: Profile = {
      ...this.#profile,
      toCommand: (paths, isBoxed) => toCommand(this.#profile.toCommand(paths, isBoxed)),
    }
    return launch({ isolation, filterPath: `/proc/self/fd/${descriptors.filter}` }, profile, {
      id: "worker",
      uid: this.#uid,
      limits: { cpuSecondsMax, scratchBytesMax },
      streams: ["ignore", "ignore", "ignore", messages, ...files],
    })
  }
}

/** What is in the folder and in its folders. Links are not followed. */
async function listPaths(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const paths = entries.map(async (entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? [path, ...(await listPaths(path))] : [path]
  })
  return (await Promise.all(paths)).flat()
}

/** What a worker sees: its program, which is one script, and the folder if it has one. */
function toWorkerProfile(program: string, folder: string | undefined): Profile {
  return {
    program: "/bun",
    files: {
      script: { inside: "/worker.js", outside: program, descriptor: descriptors.program },
      ...(folder !== undefined && {
        folder: { inside: insideFolder, outside: folder, isWritable: true },
      }),
    },
    systemFiles: [{ inside: stackMap.inside, outside: "", descriptor: descriptors.maps }],
    toCommand: ({ program: bun, script = "" }) => [bun, "--smol", script],
    // The environment of the server contains secrets.
    toEnvironment: () => ({ BUN_ENABLE_CRASH_REPORTING: "0", DO_NOT_TRACK: "1" }),
    hasChildren: false,
  }
}

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
