import { rm } from "node:fs/promises"
import { join } from "node:path"
import { type Tool, toToolProfile } from "../profiles/tool-profile.ts"
import type { SandboxHost, SandboxSpec } from "../sandbox.ts"
import { type StopCause, toSandboxExit } from "../sandbox-exit.ts"
import { removeSandboxFolder, SandboxFolder } from "../sandbox-folder.ts"
import type { SandboxLimits } from "../sandbox-limits.ts"
import { readTreeUsage } from "./guest-process.ts"
import type { LaunchedProcess } from "./launched-process.ts"
import { launch } from "./launcher.ts"

/** What one run of a tool may use. */
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
  /** Files and folders in its scratch folder. Checked only without bubblewrap. */
  readonly scratchEntriesMax: number
}

/** One run of a tool. */
export interface ToolJob {
  readonly tool: Tool
  readonly input: Uint8Array
  readonly limits: ToolLimits
  /** Opens the egress socket. Undefined: the tool has no network. */
  readonly openEgress?: ((path: string) => { stop(): void }) | undefined
  readonly signal: AbortSignal
}

/** How it ended. */
export type ToolOutcome = { readonly kind: "done"; readonly output: Uint8Array } | ToolFailure

/** The tool did not finish. */
export interface ToolFailure {
  readonly kind: "failed"
  /** Its output until then. */
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
  /** The signal that ended it: it was killed, or has crashed. */
  readonly signal?: string | undefined
  /** The end of its standard error, for the operator. */
  readonly stderr: string
}

/** How often the limits are checked that the kernel does not enforce. */
const watchMs = 200
const stderrCharsMax = 4_000

/** Runs a tool in a sandbox, and removes it. Throws the reason of the signal when aborted. */
export async function runTool(
  host: SandboxHost,
  { id, path, uid }: Pick<SandboxSpec, "id" | "path" | "uid">,
  job: ToolJob,
): Promise<ToolOutcome> {
  job.signal.throwIfAborted()
  const limits: SandboxLimits = { ...host.limits, ...job.limits }
  const undo: (() => unknown)[] = [() => removeSandboxFolder(path)]
  try {
    const folder = await SandboxFolder.create(path, uid)
    // Asynchronously, because it may be large.
    undo.push(() => rm(folder.scratch, { recursive: true, force: true }))
    const egressPath = join(folder.run, "out.sock")
    const egress = job.openEgress?.(egressPath)
    if (egress) {
      undo.push(() => egress.stop())
      folder.restrict(egressPath)
    }
    folder.closeRun()
    await folder.closeDeno()
    const group = await host.cgroups.createGroup(id, limits)
    undo.push(() => group?.removeSoon())
    const profile = toToolProfile(job.tool, folder, limits, host.programParts.systemFiles)
    const launched = launch(host, profile, {
      id,
      uid,
      group,
      limits,
      folder,
      streams: [job.input, "pipe", "pipe"],
    })
    return await waitForEnd(host, folder, launched, job, limits)
  } finally {
    for (const step of undo.reverse()) await Promise.try(step).catch(host.onError)
  }
}

/** Waits until the tool ends. Kills it when it exceeds a limit. */
async function waitForEnd(
  host: SandboxHost,
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
  const isScratchFull = () =>
    !host.isolation.bubblewrap &&
    folder.isScratchLargerThan(limits.scratchBytesMax, scratchEntriesMax)
  const checkLimits = () => {
    const inner = launched.findInner()
    if (
      !launched.group?.has("memory") &&
      inner &&
      readTreeUsage(inner.pid).memoryBytes > limits.memoryBytesMax
    )
      stop("memory")
    else if (isScratchFull()) stop("files")
  }
  const onAbort = () => stop("killed")
  signal.addEventListener("abort", onAbort, { once: true })
  const deadline = setTimeout(() => stop("time"), msMax)
  const watch = setInterval(checkLimits, watchMs)
  try {
    const output = readOutput(launched.child.stdout, outputBytesMax, () => stop("output"))
    const stderr = readEnd(launched.child.stderr)
    await launched.child.exited
    await launched.waitUntilGone(limits.endMsMax, host.onError)
    signal.throwIfAborted()
    const cause: StopCause | undefined = stopped && { reason: "killed" }
    const exit = toSandboxExit(launched.readExitFacts(cause, undefined), limits)
    if (exit.reason === "exited" && exit.code === 0) {
      // The tool may have written too much since the last check.
      if (!isScratchFull()) return { kind: "done", output: await output }
      return { kind: "failed", partial: await output, reason: "files", stderr: await stderr }
    }
    const reason = exit.reason === "killed" ? (stopped ?? "killed") : toReason(exit.reason)
    const ended = { reason, signal: exit.signal }
    return { kind: "failed", partial: await output, ...ended, stderr: await stderr }
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

/** The last characters of a stream. */
async function readEnd(stream: Bun.Subprocess["stderr"]): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  if (stream instanceof ReadableStream)
    for await (const chunk of stream as ReadableStream<Uint8Array>)
      text = (text + decoder.decode(chunk, { stream: true })).slice(-stderrCharsMax)
  return text.trim()
}
