import { fileURLToPath } from "node:url"
import type { SqlOutcome } from "../../domain/owner-databases.ts"
import { findInnermost, killInnermost, readTreeBytes } from "../sandbox/launch/process-tree.ts"
import type { WorkerLaunch } from "../sandbox/launch/worker-launch.ts"
import { createFrameReader, doneMark, frameDescriptor, readyMark } from "./database-frames.ts"
import { type DatabaseLimits, statementLimits } from "./database-limits.ts"
import type { DatabaseSettings } from "./worker/open-connection.ts"

/** What a database process is told when it starts. */
export interface ProcessSettings extends DatabaseSettings {
  readonly folder: string
  readonly openMax: number
  /** Undefined where the process cannot see it, and ends with it all the same. */
  readonly serverPid: number | undefined
}

/** What a process is started with. */
export interface ProcessStart {
  readonly launch: WorkerLaunch
  readonly settings: ProcessSettings
  /** How long a request may take. */
  readonly msMax: number
  readonly limits: DatabaseLimits
}

/**
 * One process that runs the statements of users, a request at a time.
 *
 * A process and not a thread, because a statement may never end or take all memory, and cannot be
 * interrupted: a kill ends it for certain. The database does not mind: what was not committed is
 * not there when it is opened next. A fault in SQLite is no fault of the server either.
 */
export class DatabaseProcess {
  readonly #start: ProcessStart
  readonly #child: Bun.Subprocess
  readonly #connecting: Promise<Bun.Socket>
  readonly #ready: Promise<boolean>
  /** Those whose databases it has open, the last one last. */
  readonly #owners = new Set<string>()
  /** Undefined when the process ended instead. */
  #answer = Promise.withResolvers<Buffer | undefined>()
  #unsent: Uint8Array = new Uint8Array()
  #requests = 0
  #workMs = 0
  #runningSince: number | undefined
  #watch: Timer | undefined
  /** What it was killed for. */
  #excess: string | undefined
  #isEnding = false

  constructor(start: ProcessStart) {
    this.#start = start
    const { launch, settings, limits } = start
    launch.openFolder()
    this.#child = Bun.spawn({
      cmd: launch.toCommand([JSON.stringify(settings)], limits.lifeSecondsMax),
      // Neither the secrets of the server's environment nor the settings in its working directory
      // are any business of a database.
      env: { BUN_ENABLE_CRASH_REPORTING: "0", DO_NOT_TRACK: "1" },
      cwd: folderPath,
      stdio: ["ignore", "ignore", "ignore", "pipe", ...launch.descriptors],
    })
    const slow = setTimeout(() => this.#kill(), limits.startMsMax)
    this.#ready = this.#answer.promise.then((answer) => {
      clearTimeout(slow)
      return answer?.[0] === readyMark
    })
    this.#connecting = this.#connect()
    this.#connecting.catch(() => this.#fail())
  }

  /** Of the process that runs statements; bubblewrap is around it. */
  get pid(): number {
    return findInnermost(this.#child.pid)
  }

  /** Whether it may be given another request. */
  get isUsable(): boolean {
    const isAlive = this.#child.exitCode === null && this.#child.signalCode === null
    return (
      isAlive && !this.#isEnding && this.#workMs < (this.#start.limits.lifeSecondsMax * 1000) / 2
    )
  }

  /** Whether the database of that user is open there, so that it is faster there than elsewhere. */
  hasOpen(ownerId: string): boolean {
    return this.#owners.has(ownerId)
  }

  /**
   * Answers one request, a frame; there must be no other at the same time. A process that fails to
   * answer is not usable afterwards.
   */
  async run(ownerId: string, request: Uint8Array): Promise<SqlOutcome> {
    if (!(await this.#ready)) return { kind: "unavailable", message: "its process did not start" }
    const socket = await this.#connecting
    this.#note(ownerId)
    this.#answer = Promise.withResolvers()
    const startedAt = performance.now()
    this.#runningSince = startedAt
    // One timer for many requests: they take less time than to set and clear it.
    this.#watch ??= setInterval(() => this.#look(), this.#start.limits.checkMs)
    this.#unsent = request
    this.#send(socket)
    const answer = await this.#answer.promise
    this.#runningSince = undefined
    this.#noteWork(performance.now() - startedAt)
    if (answer) return toOutcome(answer)
    this.#isEnding = true
    return {
      kind: "failed",
      message: `interrupted: ${this.#excess ?? "the process that ran it ended"}`,
    }
  }

  /**
   * Ends the process when it has done what it is doing, at once if that takes too long, and waits
   * until it is gone.
   */
  async stop(): Promise<void> {
    this.#isEnding = true
    const slow = setTimeout(() => this.#kill(), this.#start.limits.endMsMax)
    const socket = await this.#connecting.catch(() => undefined)
    socket?.end()
    await this.#child.exited
    clearTimeout(slow)
  }

  #fail(): void {
    this.#kill()
    this.#answer.resolve(undefined)
  }

  /** No gentler signal would do: a native call does not see it. */
  #kill(): void {
    this.#isEnding = true
    killInnermost(this.#child.pid)
  }

  /**
   * The two ends of a pair of sockets are the fastest way between processes, and Bun gives a
   * process one for each descriptor beyond the third.
   */
  #connect(): Promise<Bun.Socket> {
    const readFrame = createFrameReader(statementLimits.resultBytesMax + 1)
    const options: Bun.FdSocketOptions = {
      fd: Number(this.#child.stdio[frameDescriptor]),
      socket: {
        data: (_socket, chunk) => {
          const frame = readFrame(chunk)
          if (frame) this.#answer.resolve(frame)
        },
        drain: (socket) => this.#send(socket),
        close: () => this.#answer.resolve(undefined),
        // Also what is thrown above.
        error: () => this.#fail(),
      },
    }
    // Its types know such options, but not yet that this function takes them.
    return Bun.connect(options as unknown as Bun.UnixSocketOptions<undefined>)
  }

  /** What the socket does not take now, it takes when it has room again. */
  #send(socket: Bun.Socket): void {
    const sent = this.#unsent.length === 0 ? 0 : socket.write(this.#unsent)
    this.#unsent = this.#unsent.subarray(Math.max(0, sent))
  }

  /** The process closes the database that was used longest ago, in the same way. */
  #note(ownerId: string): void {
    this.#owners.delete(ownerId)
    this.#owners.add(ownerId)
    const [oldest = ""] = this.#owners
    if (this.#owners.size > this.#start.settings.openMax) this.#owners.delete(oldest)
  }

  #look(): void {
    if (this.#runningSince === undefined) {
      clearInterval(this.#watch)
      this.#watch = undefined
      return
    }
    this.#excess ??= this.#findExcess(performance.now() - this.#runningSince)
    if (this.#excess !== undefined) this.#kill()
  }

  #findExcess(ms: number): string | undefined {
    const { msMax, limits } = this.#start
    if (ms > msMax) return `it took longer than ${msMax / 1000} s`
    return readTreeBytes(this.#child.pid) > limits.memoryBytesMax
      ? `it took more than ${limits.memoryBytesMax} bytes of memory`
      : undefined
  }

  /**
   * What a process keeps of the memory that it took, it keeps for good; so it is replaced if that
   * is much.
   */
  #noteWork(ms: number): void {
    const { limits } = this.#start
    this.#workMs += ms
    this.#requests += 1
    const isDue = ms > limits.checkMs || this.#requests % limits.checkRequests === 0
    if (isDue && readTreeBytes(this.#child.pid) > limits.keptMemoryBytesMax) this.#isEnding = true
  }
}

export const databaseProgramPath = fileURLToPath(
  new URL("./worker/database-main.ts", import.meta.url),
)
const folderPath = fileURLToPath(new URL(".", import.meta.url))

function toOutcome(answer: Buffer): SqlOutcome {
  const json = answer.subarray(1)
  return answer[0] === doneMark
    ? { kind: "done", json }
    : (JSON.parse(json.toString()) as SqlOutcome)
}
