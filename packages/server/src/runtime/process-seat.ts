import { failureHeader } from "@hamlet/guest/protocol"
import type { CallOutcome, HttpOutcome, RunListener, Seat, SeatRequest, SocketOutcome, Stopped } from "../domain/execution.ts"
import { readFailure, readReturned } from "./guest-answers.ts"
import { openGuestSocket } from "./guest-socket.ts"
import type { Occupant } from "./occupant.ts"
import type { LoadOutcome, ValProcess } from "./val-process.ts"

/** What a seat needs of whoever gave it out. */
export interface Usher {
  /** Another process of the same program for this run alone. */
  moveToFreshProcess(seat: ProcessSeat): Promise<Stopped | undefined>
  left(seat: ProcessSeat): void
}

/** How long the logs of a call may arrive after its answer. */
const lateLogsMs = 500

/** A run's place in a process. */
export class ProcessSeat implements Seat, Occupant {
  readonly run: RunListener
  readonly startedMs = performance.now()
  process: ValProcess
  isWaiting = true
  #logCount = 0
  #usher: Usher
  #end: ((outcome: Stopped) => void) | undefined
  #outcome: Stopped | undefined
  #onLog: (() => void) | undefined
  #hasLeft = false

  constructor(run: RunListener, process: ValProcess, usher: Usher) {
    this.run = run
    this.process = process
    this.#usher = usher
  }

  /** Undefined once the module is there, otherwise what happened instead. */
  async whenLoaded(): Promise<Stopped | undefined> {
    const { loaded } = this.process
    const outcome = await this.#untilEnded<LoadOutcome>((settle) => void loaded.then(settle))
    if (outcome.kind === "loaded") return undefined
    this.endWith(outcome)
    return outcome
  }

  fetch(request: SeatRequest): Promise<HttpOutcome> {
    const { method, host, target, headers, body, signal } = request
    const { socketPath } = this.process.sandbox
    const init = { unix: socketPath, method, headers, body, redirect: "manual", decompress: false, signal: signal ?? null, keepalive: true }
    return this.#untilEnded<HttpOutcome>((settle) => {
      fetch(`http://${host}/h${this.run.id}${target}`, init as RequestInit).then(
        (response) => {
          this.isWaiting = false
          if (!response.headers.has(failureHeader)) settle({ kind: "responded", response })
          else void readFailure(response, this.process).then((answer) => settle(answer.outcome))
        },
        (error: unknown) => void this.#explain(error, signal).then(settle),
      )
    })
  }

  connect(request: SeatRequest): Promise<SocketOutcome> {
    return this.#untilEnded<SocketOutcome>((settle) => {
      const path = `/h${this.run.id}${request.target}`
      openGuestSocket(this.process.sandbox.socketPath, path, request).then(
        (socket) => {
          this.isWaiting = false
          settle({ kind: "opened", socket, protocol: socket.protocol })
        },
        async (error: unknown) => {
          const response = await this.#findRefusal()
          settle(response ? { kind: "refused", response } : await this.#explain(error, request.signal))
        },
      )
    })
  }

  async call(args: readonly unknown[]): Promise<CallOutcome> {
    const stopped =
      (await this.whenLoaded()) ?? (this.process.isFreshFor(this.run.id) ? undefined : await this.#usher.moveToFreshProcess(this))
    if (stopped) return stopped
    return this.#untilEnded<CallOutcome>((settle) => {
      const init = { unix: this.process.sandbox.socketPath, method: "POST", body: JSON.stringify({ args }), keepalive: true }
      fetch(`http://call/c${this.run.id}`, init as RequestInit)
        .then(async (response) => {
          const answer = response.headers.has(failureHeader)
            ? await readFailure(response, this.process)
            : await readReturned(response, this.process)
          await this.#logsOf(answer.logCount)
          return answer.outcome
        })
        .then(settle, (error: unknown) => void this.#explain(error, undefined).then(settle))
    })
  }

  stop(status: "cancelled" | "timed_out"): void {
    const message =
      status === "cancelled"
        ? "The run was cancelled"
        : `The run took longer than ${this.process.limits.runMsMax / 1000} seconds and was ended`
    this.endWith({ kind: "stopped", status, error: { name: status === "cancelled" ? "Cancelled" : "TimedOut", message } })
    // What it has started cannot be told from what others do there, so the process takes in nobody else and ends with the last of them.
    this.process.retire()
    this.leave()
    if (this.process.runs === 0) void this.process.sandbox.stop()
  }

  leave(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.isWaiting = false
    this.process.rise(this)
    this.#usher.left(this)
  }

  endWith(outcome: Stopped): void {
    this.#outcome ??= outcome
    this.#end?.(this.#outcome)
  }

  noteLog(): void {
    this.#logCount++
    this.#onLog?.()
  }

  /** The outcome, or what ended the run before there was one. */
  #untilEnded<T>(begin: (settle: (outcome: T | Stopped) => void) => void): Promise<T | Stopped> {
    if (this.#outcome) return Promise.resolve(this.#outcome)
    return new Promise((resolve) => {
      this.#end = resolve
      begin(resolve)
    })
  }

  /** The connection broke: because the process ended, which it will say in a moment, or the client went, or the val is up to something. */
  async #explain(error: unknown, signal: AbortSignal | undefined): Promise<Stopped> {
    if (signal?.aborted) return { kind: "stopped", status: "cancelled", error: { name: "Cancelled", message: "The client went away" } }
    await Promise.race([this.process.sandbox.exited, Bun.sleep(lateLogsMs)])
    const message = `The val broke off its answer: ${error instanceof Error ? error.message : String(error)}`
    return this.#outcome ?? { kind: "stopped", status: "crashed", error: { name: "BrokenAnswer", message: this.process.mask(message) } }
  }

  async #findRefusal(): Promise<Response | undefined> {
    const deadlineMs = performance.now() + lateLogsMs
    while (performance.now() < deadlineMs && this.process.state !== "gone") {
      const refusal = this.process.takeRefusal(this.run.id)
      if (refusal) return toResponse(refusal)
      await Bun.sleep(1)
    }
    return undefined
  }

  async #logsOf(count: number): Promise<void> {
    if (this.#logCount >= count) return
    const arrived = Promise.withResolvers<void>()
    this.#onLog = () => {
      if (this.#logCount >= count) arrived.resolve()
    }
    await Promise.race([arrived.promise, this.process.sandbox.exited, Bun.sleep(lateLogsMs)])
    this.#onLog = undefined
  }
}

function toResponse(refusal: { status: number; headers: readonly (readonly [string, string])[]; body: string }): Response {
  try {
    const headers = new Headers(refusal.headers.map(([name, value]): [string, string] => [name, value]))
    const hasNoBody = refusal.status === 204 || refusal.status === 304
    return new Response(hasNoBody ? null : Buffer.from(refusal.body, "base64"), { status: refusal.status, headers })
  } catch {
    return new Response(null, { status: 502 })
  }
}
