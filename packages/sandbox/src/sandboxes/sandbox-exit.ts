import type { SandboxLimits } from "./sandbox-limits.ts"

/** How and why a sandbox ended. */
export interface SandboxExit {
  readonly code: number | undefined
  readonly signal: string | undefined
  readonly reason: "memory" | "processes" | "cpu" | "files" | "protocol" | "killed" | "exited"
  /** A sentence for the owner of the program. */
  readonly message: string
}

/** Why the server ended it. */
export interface StopCause {
  readonly reason: SandboxExit["reason"]
  readonly message?: string | undefined
}

/** What is known about a process that has ended. */
export interface ExitFacts {
  readonly code: number | null
  readonly signal: string | number | null
  readonly stopped: StopCause | undefined
  readonly wasOutOfMemory: boolean
  readonly wasOutOfProcesses: boolean
  readonly cpuMs: number | undefined
  /** The peak of its memory. */
  readonly memoryBytes: number | undefined
}

/** V8 ends the process by one of these signals when its heap is full. */
const heapSignals: ReadonlySet<string> = new Set(["SIGTRAP", "SIGABRT", "SIGILL"])
const signalNames: ReadonlyMap<number, string> = new Map([
  [4, "SIGILL"],
  [5, "SIGTRAP"],
  [6, "SIGABRT"],
  [7, "SIGBUS"],
  [9, "SIGKILL"],
  [11, "SIGSEGV"],
  [15, "SIGTERM"],
  [24, "SIGXCPU"],
  [25, "SIGXFSZ"],
  [31, "SIGSYS"],
])
/** A shell and bubblewrap report a signal as this plus its number. */
const signalCode = 128
/** The kernel enforces CPU time with a coarse clock and reports it with a fine one. */
const cpuTolerance = 0.5
/** V8 ends the process a little before the heap reaches its limit. */
const fullHeapShare = 0.75

export function toSandboxExit(facts: ExitFacts, limits: SandboxLimits): SandboxExit {
  const signal =
    typeof facts.signal === "string"
      ? facts.signal
      : signalNames.get(facts.signal ?? (facts.code ?? 0) - signalCode)
  const cause = findCause(facts, signal, limits)
  return {
    code: facts.code ?? undefined,
    signal,
    reason: cause.reason,
    message: `The process ended: ${cause.message ?? describeStop(cause.reason, limits)}`,
  }
}

function findCause(facts: ExitFacts, signal: string | undefined, limits: SandboxLimits): StopCause {
  // Before our own reason: the kernel may have killed the process before the server could.
  if (facts.wasOutOfMemory) return { reason: "memory" }
  if (facts.stopped) return facts.stopped
  if (facts.wasOutOfProcesses && (signal !== undefined || facts.code !== 0))
    return { reason: "processes" }
  if (signal === "SIGXFSZ") return { reason: "files" }
  const hasUsedUp =
    facts.cpuMs !== undefined && facts.cpuMs >= limits.cpuSecondsMax * 1000 * cpuTolerance
  if (signal === "SIGXCPU" || (signal === "SIGKILL" && hasUsedUp)) return { reason: "cpu" }
  if (signal !== undefined && heapSignals.has(signal)) return findCrash(facts, signal, limits)
  if (signal === "SIGSEGV" || signal === "SIGBUS")
    return { reason: "exited", message: `it crashed (${signal})` }
  if (signal !== undefined) return { reason: "killed", message: `it was killed (${signal})` }
  return { reason: "exited", message: `it exited with code ${facts.code ?? 0}` }
}

/** V8 ends a process with a full heap by the same signals as a panic of Deno does. */
function findCrash(
  { memoryBytes }: ExitFacts,
  signal: string,
  { heapBytesMax }: SandboxLimits,
): StopCause {
  const full = `its JavaScript heap reached the limit of ${toMegabytes(heapBytesMax)}`
  if (memoryBytes === undefined)
    return { reason: "memory", message: `it crashed (${signal}), most likely because ${full}` }
  if (memoryBytes >= heapBytesMax * fullHeapShare) return { reason: "memory", message: full }
  return { reason: "exited", message: `it crashed (${signal})` }
}

function describeStop(reason: SandboxExit["reason"], limits: SandboxLimits): string {
  switch (reason) {
    case "memory":
      return `it used more than the limit of ${toMegabytes(limits.memoryBytesMax)} of memory`
    case "processes":
      return `it reached the limit of ${limits.threadsMax} threads`
    case "cpu":
      return "it used more CPU time than the limit"
    case "files":
      return `it wrote more than the limit of ${toMegabytes(limits.fileBytesMax)} to a file`
    case "protocol":
      return "it violated the protocol of the control socket"
    case "killed":
      return "it was stopped"
    case "exited":
      return "it exited"
  }
}

function toMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`
}
