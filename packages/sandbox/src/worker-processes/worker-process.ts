import { RecentMap } from "@hamlet/kit"
import { findInnermost, readTreeUsage } from "../sandboxes/launch/guest-process.ts"
import type { LaunchedProcess } from "../sandboxes/launch/launched-process.ts"
import { createFrameReader, frameDescriptor, splitMessage, type WorkerMessage } from "./frames.ts"
import type { WorkerLimits } from "./worker-limits.ts"

/** Why there is no response. The process is not usable afterwards. */
export interface WorkerFailure {
  readonly kind: "timed_out" | "out_of_memory" | "crashed"
  /** False when the process did not start. */
  readonly isStarted: boolean
  /** Whether the request was behind another one, so that the process never began it. */
  readonly isAhead?: boolean
  /** Why it did not start, where the system gave a reason. */
  readonly message?: string
}

/** A request: the parts of a frame with a message. */
export type WorkerRequest = readonly Uint8Array[]

export interface WorkerResponse extends WorkerMessage {
  readonly kind: "responded"
}

/**
 * A process of ours that works on what users have written, one request at a time. It can be sent the
 * next one meanwhile, so that it does not wait for the server between two.
 *
 *   starting ──▶ ready ◀──▶ at work ──▶ ending ──▶ gone
 *       └──────────┴──────────────────────▲
 *
 * It is a process and not a thread, because a request may never end or take gigabytes (22 kB of
 * nested arrow functions take the parser 2 GB and 5 s), and a native call cannot be interrupted: a
 * thread that is terminated goes on until the call returns. Killing a process always works, and
 * neither a crash of the parser nor one of SQLite is a crash of the server. A process starts in
 * 10 ms and takes 15 MB.
 */
export class WorkerProcess {
  readonly #limits: WorkerLimits
  readonly #process: LaunchedProcess
  readonly #child: Bun.Subprocess
  readonly #connecting: Promise<Bun.Socket>
  readonly #ready: Promise<boolean>
  /** The owners whose requests it ran, the last one last. */
  readonly #owners: RecentMap<string, true>
  readonly #start = Promise.withResolvers<boolean>()
  /** The requests that it was sent; it works on the first one. */
  readonly #sent: ((response: WorkerMessage | "ended" | "ended before") => void)[] = []
  #unsent: Uint8Array[] = []
  #requests = 0
  #underWay = 0
  #workMs = 0
  #runningSinceMs: number | undefined
  /** Its CPU time when the current request was first checked, and how old the request was then. */
  #firstCheck: { readonly cpuMs: number; readonly ageMs: number } | undefined
  #watch: Timer | undefined
  #killReason: "timed_out" | "out_of_memory" | undefined
  #isEnding = false

  constructor(process: LaunchedProcess, limits: WorkerLimits) {
    this.#limits = limits
    this.#owners = new RecentMap(limits.cachedOwnersMax)
    this.#process = process
    this.#child = process.child
    const startTimer = setTimeout(() => this.#kill("timed_out"), limits.startMsMax)
    this.#ready = this.#start.promise.finally(() => clearTimeout(startTimer))
    this.#connecting = this.#connect()
    this.#connecting.catch(() => this.#fail())
  }

  /** The id of the worker itself, not of the bubblewrap process around it. */
  get pid(): number {
    return findInnermost(this.#child.pid)
  }

  /** The number of requests that it was given. */
  get requests(): number {
    return this.#requests
  }

  /** Whether it has requests that it has not responded to. */
  get isAtWork(): boolean {
    return this.#underWay > 0
  }

  /** Whether it works on one request and may be sent the next one. */
  get canQueue(): boolean {
    return this.isUsable && this.#underWay === 1 && this.#sent.length === 1
  }

  /** Whether it may be given another request. */
  get isUsable(): boolean {
    const isAlive = this.#child.exitCode === null && this.#child.signalCode === null
    return isAlive && !this.#isEnding && this.#workMs < (this.#limits.lifeSecondsMax * 1000) / 2
  }

  /** Whether it has the state of that owner in memory, and is therefore faster than others. */
  hasCached(owner: string): boolean {
    return this.#owners.has(owner)
  }

  /** Sends a request. Those that are under way must be of the same owner. */
  async run(owner: string, request: WorkerRequest): Promise<WorkerResponse | WorkerFailure> {
    this.#requests += 1
    this.#underWay += 1
    // The worker drops the state of the owner that was used longest ago, in the same way.
    this.#owners.set(owner, true)
    this.#child.ref()
    try {
      return await this.#exchange(request)
    } finally {
      this.#underWay -= 1
      // Only a request may keep the server's process from ending.
      if (this.#underWay === 0) this.#child.unref()
    }
  }

  async #exchange(request: WorkerRequest): Promise<WorkerResponse | WorkerFailure> {
    if (!(await this.#ready)) return this.#toFailure(false)
    // The process may have ended since the pool chose it.
    if (this.#isEnding) return this.#toFailure(true, this.#underWay > 1)
    const socket = await this.#connecting
    socket.ref()
    const { promise, resolve } = Promise.withResolvers<WorkerMessage | "ended" | "ended before">()
    this.#sent.push(resolve)
    if (this.#sent.length === 1) this.#begin()
    // One timer for many requests: setting and clearing one takes longer than most requests.
    this.#watch ??= setInterval(() => this.#check(), this.#limits.checkMs)
    this.#unsent.push(...request)
    this.#send(socket)
    const response = await promise
    if (this.#sent.length === 0) socket.unref()
    return typeof response === "string"
      ? this.#toFailure(true, response === "ended before")
      : { kind: "responded", ...response }
  }

  /** The process begins with the first of the requests that it was sent. */
  #begin(): void {
    this.#runningSinceMs = performance.now()
    this.#firstCheck = undefined
  }

  #receive(frame: Buffer): void {
    const [resolve] = this.#sent
    // The empty frame: it is ready.
    if (!resolve) return void this.#start.resolve(frame.length === 0)
    const message = splitMessage(frame)
    this.#sent.shift()
    this.#noteWork(performance.now() - (this.#runningSinceMs ?? 0))
    if (this.#sent.length > 0) this.#begin()
    else this.#runningSinceMs = undefined
    resolve(message)
  }

  /** No response comes any more. It was at work on the first request, and never began the others. */
  #end(): void {
    this.#isEnding = true
    this.#runningSinceMs = undefined
    this.#start.resolve(false)
    for (const [index, resolve] of this.#sent.splice(0).entries())
      resolve(index === 0 ? "ended" : "ended before")
  }

  /**
   * Ends the process after its current request, or by force after `endMsMax`, and waits until it is
   * gone.
   */
  async stop(): Promise<void> {
    this.#isEnding = true
    this.#child.ref()
    const timer = setTimeout(() => this.#kill(), this.#limits.endMsMax)
    const socket = await this.#connecting.catch(() => undefined)
    socket?.end()
    await this.#child.exited
    clearTimeout(timer)
  }

  #toFailure(isStarted: boolean, isAhead = false): WorkerFailure {
    this.#isEnding = true
    return { kind: this.#killReason ?? "crashed", isStarted, isAhead }
  }

  #fail(): void {
    this.#kill()
    this.#end()
  }

  /** A gentler signal would not work: a native call does not handle it. */
  #kill(reason?: "timed_out" | "out_of_memory"): void {
    this.#isEnding = true
    this.#killReason ??= reason
    this.#process.kill()
  }

  /**
   * A socket pair is the fastest connection between processes, and Bun creates one for each "pipe"
   * beyond the third descriptor.
   */
  #connect(): Promise<Bun.Socket> {
    const readFrames = createFrameReader(this.#limits.responseBytesMax)
    const options: Bun.FdSocketOptions = {
      fd: Number(this.#child.stdio[frameDescriptor]),
      socket: {
        data: (_socket, chunk) => {
          for (const frame of readFrames(chunk)) this.#receive(frame)
        },
        drain: (socket) => this.#send(socket),
        close: () => this.#end(),
        // Bun calls this also with what `readFrames` and `splitMessage` throw.
        error: () => this.#fail(),
      },
    }
    // The types of Bun have these options, but not for this function.
    return Bun.connect(options as unknown as Bun.UnixSocketOptions<undefined>)
  }

  /** Sends as much as the socket accepts; `drain` sends the rest. */
  #send(socket: Bun.Socket): void {
    for (let frame = this.#unsent.shift(); frame; frame = this.#unsent.shift()) {
      const sent = Math.max(0, socket.write(frame))
      if (sent === frame.length) continue
      this.#unsent.unshift(frame.subarray(sent))
      return
    }
  }

  #check(): void {
    const { checkMs, requestMsMax, memoryBytesMax } = this.#limits
    if (this.#runningSinceMs === undefined) {
      clearInterval(this.#watch)
      this.#watch = undefined
      return
    }
    const ageMs = performance.now() - this.#runningSinceMs
    // A request that has just begun cannot have taken much. Many small ones in a row would be
    // measured all the time, which takes a tenth of what the server does for them.
    if (ageMs < checkMs) return
    const { memoryBytes, cpuMs } = readTreeUsage(this.#child.pid)
    this.#firstCheck ??= { cpuMs, ageMs }
    // Where there is no CPU time to read, it counts as having worked all the time.
    const workedMs = cpuMs === 0 ? ageMs : this.#firstCheck.ageMs + cpuMs - this.#firstCheck.cpuMs
    if (hasTimedOut(ageMs, workedMs, requestMsMax)) this.#kill("timed_out")
    else if (memoryBytes > memoryBytesMax) this.#kill("out_of_memory")
  }

  /** A process never returns memory to the system, so one that keeps much is replaced. */
  #noteWork(ms: number): void {
    const { checkMs, checkRequests, keptMemoryBytesMax } = this.#limits
    this.#workMs += ms
    const isDue = ms > checkMs || this.#requests % checkRequests === 0
    if (isDue && readTreeUsage(this.#child.pid).memoryBytes > keptMemoryBytesMax)
      this.#isEnding = true
  }
}

const starvedFactor = 5

/** Whether a request has taken too long, of which its process has worked for `workedMs`. */
export function hasTimedOut(ageMs: number, workedMs: number, requestMsMax: number): boolean {
  const isStarved = workedMs < requestMsMax && ageMs < requestMsMax * starvedFactor
  return ageMs > requestMsMax && !isStarved
}
