import { readFileSync, statfsSync, writeFileSync } from "node:fs"
import { setPriority } from "node:os"
import { tryList, tryReadText } from "@hamlet/kit"
import {
  identityOf,
  isAlive,
  isCertainlyAlive,
  killIfAlive,
  pidOf,
  readProcessStat,
} from "./process-identity.ts"

/** The process in which a program runs, as the host sees it. With bubblewrap it is the inner one. */
export class GuestProcess {
  readonly #identity: string
  readonly #pid: number

  private constructor(identity: string) {
    this.#identity = identity
    this.#pid = pidOf(identity)
  }

  /** Undefined when it has ended, or cannot be looked up now. */
  static find(pid: number): GuestProcess | undefined {
    try {
      const identity = identityOf(pid)
      return identity === undefined ? undefined : new GuestProcess(identity)
    } catch {
      return undefined
    }
  }

  get pid(): number {
    return this.#pid
  }

  isAlive(): boolean {
    return isAlive(this.#identity)
  }

  /** Never kills another process that has got the same id since. */
  kill(): void {
    if (isCertainlyAlive(this.#identity)) killIfAlive(this.#pid)
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
    const [, resident, shared] = tryReadText(`/proc/${this.#pid}/statm`).split(" ").map(Number)
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
    return tryList(`/proc/${this.#pid}/task`).some(
      (thread) => readProcessStat(this.#pid, thread)?.isRunnable,
    )
  }

  /** Sets the priority of each thread. Only root can raise it again. */
  setNice(nice: number): void {
    for (const thread of tryList(`/proc/${this.#pid}/task`))
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

function ignoreErrors(act: () => void): void {
  try {
    act()
  } catch {
    // Not permitted, or it has just ended.
  }
}

/** A tool has a handful of processes. Further ones are not counted. */
const processesMax = 100

/** What a process and all its descendants use. All 0 where there is no `/proc`. */
export function readTreeUsage(pid: number): {
  readonly memoryBytes: number
  readonly cpuMs: number
} {
  const seen = new Set([pid])
  let [memoryBytes, cpuMs] = [0, 0]
  for (const current of seen) {
    const usage = GuestProcess.find(current)?.readUsage()
    memoryBytes += usage?.memoryBytes ?? 0
    cpuMs += usage?.cpuMs ?? 0
    for (const child of listChildren(current)) if (seen.size < processesMax) seen.add(child)
  }
  return { memoryBytes, cpuMs }
}

/** The process inside of shells and bubblewrap, or the process itself if it has no child. */
export function findInnermost(pid: number): number {
  const [child] = listChildren(pid)
  return child === undefined ? pid : findInnermost(child)
}

/** Kills the innermost processes. Bubblewrap and shells around them end by themselves. */
export function killInnermost(pid: number): void {
  const children = listChildren(pid)
  for (const child of children) killInnermost(child)
  if (children.length > 0) return
  killIfAlive(pid)
}

function listChildren(pid: number): number[] {
  return tryList(`/proc/${pid}/task`).flatMap((thread) =>
    tryReadText(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number),
  )
}
