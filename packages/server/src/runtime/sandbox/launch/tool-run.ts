import { chmodSync, chownSync } from "node:fs"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import type { Tool } from "../commands/tool-command.ts"
import { type StopCause, toSandboxExit } from "../sandbox-exit.ts"
import {
  closeRunFolder,
  createSandboxFolder,
  removeSandboxFolder,
  type SandboxFolder,
} from "../sandbox-folder.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"
import { isLargerThan } from "../scratch-size.ts"
import { LaunchedProcess, type LaunchHost } from "./launched-process.ts"
import { readTreeBytes } from "./process-tree.ts"

/** What one run of a tool may take. */
export interface ToolLimits
  extends Pick<
    SandboxLimits,
    | "memoryBytesMax"
    | "heapBytesMax"
    | "threadsMax"
    | "scratchBytesMax"
    | "openFilesMax"
    | "fileBytesMax"
    | "cpuSecondsMax"
  > {
  readonly msMax: number
  readonly outputBytesMax: number
  /**
   * Files and folders in its scratch folder; only looked at where it is not a file system of its
   * own.
   */
  readonly scratchEntriesMax: number
}

/** One run of a tool. */
export interface ToolJob {
  readonly tool: Tool
  readonly input: Uint8Array
  readonly limits: ToolLimits
  /** Opens the way out; the tool has none without it. */
  readonly openEgress?: ((path: string) => { stop(): void }) | undefined
  readonly signal: AbortSignal
}

/** What came of it. */
export type ToolOutcome = { readonly kind: "done"; readonly output: Uint8Array } | ToolFailure

/** It did not get to its end. */
export interface ToolFailure {
  readonly kind: "failed"
  /** What it wrote until then. */
  readonly partial: Uint8Array
  readonly reason:
    | "time"
    | "memory"
    | "processes"
    | "cpu"
    | "files"
    | "output"
    | "killed"
    | "exited"
  /** The last that it wrote to standard error, for the operator. */
  readonly said: string
}

/** How often it is looked at, where the kernel does not limit it by itself. */
const watchMs = 200
const saidCharsMax = 4_000

/**
 * Runs a tool in a sandbox of its own, of which nothing is left afterwards. Throws the reason of
 * the signal when it was aborted.
 */
export async function runTool(
  host: LaunchHost,
  place: { readonly id: string; readonly path: string; readonly uid: number | undefined },
  job: ToolJob,
): Promise<ToolOutcome> {
  job.signal.throwIfAborted()
  const { uid } = place
  const limits: SandboxLimits = { ...host.limits, ...job.limits }
  const undo: (() => unknown)[] = [() => removeSandboxFolder(place.path)]
  try {
    const folder = await createSandboxFolder(place.path, uid)
    // It may be large, and nobody else should have to wait for it.
    undo.push(() => rm(folder.scratch, { recursive: true, force: true }))
    const doorPath = join(folder.run, "out.sock")
    const door = job.openEgress?.(doorPath)
    if (door) {
      undo.push(() => door.stop())
      if (uid !== undefined) chownSync(doorPath, uid, uid)
      chmodSync(doorPath, 0o600)
    }
    closeRunFolder(folder, uid)
    const launch = host.isolation.toToolLaunch({ folder, uid, tool: job.tool, limits })
    const streams = { stdin: job.input, stdout: "pipe", stderr: "pipe" } as const
    const group = await host.cgroups.createGroup(place.id, limits)
    undo.push(() => group?.removeSoon())
    const launched = new LaunchedProcess(
      host,
      { id: place.id, folder, ...launch, limits, ...streams, hasChildren: true },
      group,
    )
    return await attend(host, folder, launched, job, limits)
  } finally {
    for (const step of undo.reverse()) await Promise.try(step).catch(host.onError)
  }
}

/** Waits for its end, and brings it about when it takes more than it may. */
async function attend(
  host: LaunchHost,
  folder: SandboxFolder,
  launched: LaunchedProcess,
  { signal, limits: { msMax, outputBytesMax, scratchEntriesMax } }: ToolJob,
  limits: SandboxLimits,
): Promise<ToolOutcome> {
  let stopped: ToolFailure["reason"] | undefined
  const stop = (reason: ToolFailure["reason"]) => {
    stopped ??= reason
    launched.kill()
  }
  const look = () => {
    const inner = launched.findInner()
    if (!launched.group?.has("memory") && inner && readTreeBytes(inner.pid) > limits.memoryBytesMax)
      stop("memory")
    else if (
      !host.isolation.hasOuterProcess &&
      isLargerThan(folder.scratch, limits.scratchBytesMax, scratchEntriesMax)
    )
      stop("files")
  }
  const onAbort = () => stop("killed")
  signal.addEventListener("abort", onAbort, { once: true })
  const deadline = setTimeout(() => stop("time"), msMax)
  const watch = setInterval(look, watchMs)
  try {
    const output = readOutput(launched.child.stdout, outputBytesMax, () => stop("output"))
    const said = readSaid(launched.child.stderr)
    await launched.child.exited
    await launched.waitUntilGone()
    signal.throwIfAborted()
    const cause: StopCause | undefined = stopped && { reason: "killed" }
    const exit = toSandboxExit(launched.readExitFacts(cause, undefined), limits)
    if (exit.reason === "exited" && exit.code === 0) return { kind: "done", output: await output }
    const reason = exit.reason === "killed" ? (stopped ?? "killed") : toReason(exit.reason)
    return { kind: "failed", partial: await output, reason, said: await said }
  } finally {
    signal.removeEventListener("abort", onAbort)
    clearTimeout(deadline)
    clearInterval(watch)
  }
}

function toReason(reason: ReturnType<typeof toSandboxExit>["reason"]): ToolFailure["reason"] {
  return reason === "protocol" ? "exited" : reason
}

async function readOutput(
  stream: Bun.Subprocess["stdout"],
  bytesMax: number,
  onTooMuch: () => void,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  if (stream instanceof ReadableStream)
    for await (const chunk of stream as ReadableStream<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) {
        onTooMuch()
        break
      }
      chunks.push(chunk)
    }
  return Buffer.concat(chunks)
}

async function readSaid(stream: Bun.Subprocess["stderr"]): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  if (stream instanceof ReadableStream)
    for await (const chunk of stream as ReadableStream<Uint8Array>)
      text = (text + decoder.decode(chunk, { stream: true })).slice(-saidCharsMax)
  return text.trim()
}
