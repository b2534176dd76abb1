import { readdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { identityOf, isAlive, pidOf, readProcessStat } from "./process-identity.ts"

/** The process in which a val runs, as the host sees it. With bubblewrap it is the inner one. */
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

  /** Never kills another process that has got the same id since. */
  kill(): void {
    if (!this.isAlive()) return
    try {
      process.kill(this.#pid, "SIGKILL")
    } catch {
      // It has just ended.
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

  /** Its memory without the program and its libraries, which all sandboxes share. */
  readOwnBytes(): number | undefined {
    const [, resident, shared] = readText(`/proc/${this.#pid}/statm`).split(" ").map(Number)
    return resident === undefined || shared === undefined
      ? undefined
      : (resident - shared) * readPageBytes()
  }

  /**
   * The number of files and folders in the file system that the process has mounted at that path.
   * Undefined where the host has no access.
   */
  readEntries(path: string): number | undefined {
    try {
      const { files, ffree } = statfsSync(`/proc/${this.#pid}/root${path}`)
      return files - ffree
    } catch {
      return undefined
    }
  }

  /** Whether one of its threads runs or waits for a core. */
  isRunnable(): boolean {
    return list(`/proc/${this.#pid}/task`).some(
      (thread) => readProcessStat(this.#pid, thread)?.isRunnable,
    )
  }

  /** Sets the priority of each thread. Only root can raise it again. */
  setNice(nice: number): void {
    for (const thread of list(`/proc/${this.#pid}/task`))
      ignoreErrors(() => setPriority(Number(thread), nice))
    // With autogroups, the priority of a thread counts only within its session.
    ignoreErrors(() => writeFileSync(`/proc/${this.#pid}/autogroup`, String(nice)))
  }
}

/** The kernel reports CPU time in hundredths of a second on every machine. */
const tickMs = 10
/** `AT_PAGESZ`, the entry of the auxiliary vector with the size of a page. */
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
    // It has just ended, or this is not Linux.
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
    // Not permitted, or it has just ended.
  }
}
