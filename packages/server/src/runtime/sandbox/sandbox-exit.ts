import type { SandboxLimits } from "./sandbox-limits.ts"

/** How a sandbox ended, and whose doing it was. */
export interface SandboxExit {
  readonly code: number | undefined
  readonly signal: string | undefined
  readonly reason: "memory" | "processes" | "cpu" | "files" | "protocol" | "killed" | "exited"
  /** A sentence for whoever's val it was. */
  readonly message: string
}

/** Why we ended it ourselves. */
export interface StopCause {
  readonly reason: SandboxExit["reason"]
  readonly message?: string | undefined
}

/** What can be known of a process that has ended. */
export interface ExitFacts {
  readonly code: number | null
  readonly signal: string | number | null
  readonly stopped: StopCause | undefined
  readonly wasOutOfMemory: boolean
  readonly wasOutOfProcesses: boolean
  readonly cpuMs: number | undefined
  /** The most memory it ever had. */
  readonly memoryBytes: number | undefined
}

/** V8 ends the process by a trap, or by abort, when its heap is full. */
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
/** A shell, and bubblewrap, report the signal that ended a process as an exit code. */
const signalCode = 128
/** The kernel enforces CPU time by a coarse clock and reports it by a fine one. */
const cpuTolerance = 0.5
/** V8 gives up a little before the limit. */
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
    message: `The process of the val ended: ${cause.message ?? describeStop(cause.reason, limits)}`,
  }
}

function findCause(facts: ExitFacts, signal: string | undefined, limits: SandboxLimits): StopCause {
  // The kernel knows better than we do why it killed a process, even if we were about to do it.
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

/**
 * V8 ends a process whose heap is full in the same way as other parts of Deno end one that they
 * have no other way out of.
 */
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
      return `it took more than the limit of ${toMegabytes(limits.memoryBytesMax)} of memory`
    case "processes":
      return `it reached the limit of ${limits.threadsMax} threads`
    case "cpu":
      return "it took more CPU time than it may"
    case "files":
      return `it wrote more than the limit of ${toMegabytes(limits.fileBytesMax)} to a file`
    case "protocol":
      return "it broke the rules of the control socket"
    case "killed":
      return "it was stopped"
    case "exited":
      return "it exited"
  }
}

function toMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MB`
}
