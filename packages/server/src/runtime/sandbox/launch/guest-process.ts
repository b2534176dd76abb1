import { readdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { identityOf, isAlive, pidOf, readProcessStat } from "./process-identity.ts"

/**
 * The process in which a val runs, as the host sees it: the one inside bubblewrap, if there is one
 * around it.
 */
export class GuestProcess {
  readonly #identity: string
  readonly #pid: number

  private constructor(identity: string) {
    this.#identity = identity
    this.#pid = pidOf(identity)
  }

  /** Undefined when it has ended. */
  static find(pid: number): GuestProcess | undefined {
    const identity = identityOf(pid)
    return identity === undefined ? undefined : new GuestProcess(identity)
  }

  get pid(): number {
    return this.#pid
  }

  isAlive(): boolean {
    return isAlive(this.#identity)
  }

  /** Never kills another process that has got the number since. */
  kill(): void {
    if (!this.isAlive()) return
    try {
      process.kill(this.#pid, "SIGKILL")
    } catch {
      // Has just ended by itself.
    }
  }

  readUsage():
    | { readonly cpuMs: number; readonly memoryBytes: number; readonly threads: number }
    | undefined {
    const stat = readProcessStat(this.#pid)
    if (!stat) return undefined
    return {
      cpuMs: stat.cpuTicks * tickMs,
      memoryBytes: stat.memoryPages * readPageBytes(),
      threads: stat.threads,
    }
  }

  /** What it has for itself, without the program and its libraries, which all sandboxes share. */
  readOwnBytes(): number | undefined {
    const [, resident, shared] = readText(`/proc/${this.#pid}/statm`).split(" ").map(Number)
    return resident === undefined || shared === undefined
      ? undefined
      : (resident - shared) * readPageBytes()
  }

  /**
   * How many files and folders there are in the file system at that path of its own. Undefined
   * where the host cannot look.
   */
  readEntries(path: string): number | undefined {
    try {
      const { files, ffree } = statfsSync(`/proc/${this.#pid}/root${path}`)
      return files - ffree
    } catch {
      return undefined
    }
  }

  /** Whether any of its threads would do something if it were given a processor. */
  isRunnable(): boolean {
    return list(`/proc/${this.#pid}/task`).some(
      (thread) => readProcessStat(this.#pid, thread)?.isRunnable,
    )
  }

  /** Each thread has a priority of its own. Only root can take a lowered one back. */
  setNice(nice: number): void {
    for (const thread of list(`/proc/${this.#pid}/task`))
      ignoreErrors(() => setPriority(Number(thread), nice))
    // Where sessions are weighed against each other, the priority of threads counts only within
    // theirs.
    ignoreErrors(() => writeFileSync(`/proc/${this.#pid}/autogroup`, String(nice)))
  }
}

/** The kernel counts in hundredths of a second on every machine, whatever its own clock does. */
const tickMs = 10
/** The entry of a process's auxiliary vector that says how large pages are. */
const pageSizeEntry = 6n
const pageBytesUsual = 4096
let pageBytes: number | undefined

function readPageBytes(): number {
  pageBytes ??= findPageBytes()
  return pageBytes
}

function findPageBytes(): number {
  try {
    const bytes = readFileSync("/proc/self/auxv")
    for (let at = 0; at + 16 <= bytes.length; at += 16)
      if (bytes.readBigUInt64LE(at) === pageSizeEntry) return Number(bytes.readBigUInt64LE(at + 8))
  } catch {
    // Not Linux.
  }
  return pageBytesUsual
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // Has just ended, or is not on Linux.
    return ""
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function ignoreErrors(act: () => void): void {
  try {
    act()
  } catch {
    // Not allowed, or it has just ended.
  }
}
