import { failureHeader, type Refused } from "@hamlet/guest/protocol"
import {
  brokenResponse,
  type CallArgs,
  type CallOutcome,
  type Client,
  type HttpOutcome,
  type RunListener,
  type RunSlot,
  type SlotRequest,
  type SocketOutcome,
  type Stopped,
  type ValResponse,
} from "../../domain/runs/runner.ts"
import { isJsonText } from "../../shared/json-text.ts"
import type { Exchange, GuestFailure, ResponseListener } from "../guest-client/exchange.ts"
import { readFailure, readReturned } from "../guest-client/guest-responses.ts"
import { openGuestSocket } from "../guest-client/guest-socket.ts"
import type { GuestRequest } from "../guest-client/request-head.ts"
import { isProperHeader } from "../http1/write-request.ts"
import type { ActiveRun } from "./active-run.ts"
import type { LoadOutcome, ValProcess } from "./val-process.ts"

/** What a slot needs of whoever gave it out. */
export interface RunSlotOwner {
  /** Another process of the same program for this run alone. */
  moveToFreshProcess(slot: ProcessRunSlot): Promise<Stopped | undefined>
  /** The run no longer counts among those that go on at once. */
  releaseRun(slot: ProcessRunSlot): void
}

/** How long the logs of a call may arrive after its answer. */
const lateLogsMs = 500

/** A run's place in a process. */
export class ProcessRunSlot implements RunSlot, ActiveRun, ResponseListener {
  readonly run: RunListener
  readonly startedMs = performance.now()
  process: ValProcess
  isWaiting = true
  #logCount = 0
  #usher: RunSlotOwner
  #end: ((outcome: Stopped) => void) | undefined
  /** Whoever waits for the answer to a request. */
  #settle: ((outcome: HttpOutcome) => void) | undefined
  #outcome: Stopped | undefined
  #exchange: Exchange | undefined
  #client: Client | undefined
  #onLog: (() => void) | undefined
  #hasLeft = false
  #hasTurn = true

  constructor(run: RunListener, process: ValProcess, usher: RunSlotOwner) {
    this.run = run
    this.process = process
    this.#usher = usher
  }

  /** How the run was ended, if it was. */
  get outcome(): Stopped | undefined {
    return this.#outcome
  }

  /** Undefined once the module is there, otherwise what happened instead. */
  async whenLoaded(): Promise<Stopped | undefined> {
    const { loaded } = this.process
    const outcome = await this.#untilEnded<LoadOutcome>((settle) => void loaded.then(settle))
    if (outcome.kind === "loaded") return undefined
    this.endWith(outcome)
    return outcome
  }

  fetch({ method, host, target, headers, body, client }: SlotRequest): Promise<HttpOutcome> {
    if (this.#outcome) return Promise.resolve(this.#outcome)
    this.#client = client
    return new Promise((resolve) => {
      this.#settle = resolve
      this.#end = resolve
      this.#exchange = this.process.client.send(
        { method, host, path: `/h${this.run.id}${target}`, headers, body },
        this,
      )
    })
  }

  onAnswer(answer: ValResponse): void {
    const settle = this.#settle
    // A failure has to be here as soon as any other answer has to begin.
    if (isFailure(answer)) {
      void readFailure(answer, this.process).then(({ outcome }) => settle?.(outcome))
      return
    }
    this.isWaiting = false
    settle?.({ kind: "responded", response: answer })
  }

  onFailure(failure: GuestFailure): void {
    const settle = this.#settle
    void this.#explain(failure).then((outcome) => settle?.(outcome))
  }

  connect(request: SlotRequest): Promise<SocketOutcome> {
    this.#client = request.client
    return this.#untilEnded<SocketOutcome>((settle) => {
      const path = `/h${this.run.id}${request.target}`
      openGuestSocket(this.process.sandbox.socketPath, path, request).then(
        (socket) => {
          this.isWaiting = false
          // From here on it mostly waits; how many there may be is the gateway's affair.
          this.#giveTurnBack()
          settle({ kind: "opened", socket, protocol: socket.protocol })
        },
        async (error: unknown) => {
          const answer = await this.#findRefusal()
          settle(
            answer
              ? { kind: "refused", response: answer }
              : await this.#explain({ kind: "closed", message: toMessage(error) }),
          )
        },
      )
    })
  }

  async call(args: CallArgs): Promise<CallOutcome> {
    const stopped =
      (await this.whenLoaded()) ??
      (this.process.canCallFor(this.run.id)
        ? undefined
        : await this.#usher.moveToFreshProcess(this))
    if (stopped) return stopped
    return this.#untilEnded<CallOutcome>((settle) => {
      const body = Buffer.from(
        isJsonText(args) ? `{"args":${args.json}}` : JSON.stringify({ args }),
      )
      const onAnswer = async (answer: ValResponse) => {
        const { outcome, logCount } = isFailure(answer)
          ? await readFailure(answer, this.process)
          : await readReturned(answer, this.process)
        await this.#logsOf(logCount)
        settle(outcome)
      }
      this.#send(
        { method: "POST", host: "call", path: `/c${this.run.id}`, headers: [], body },
        (answer) => void onAnswer(answer),
        settle,
      )
    })
  }

  stop(status: "cancelled" | "timed_out"): void {
    const message =
      status === "cancelled"
        ? "The run was cancelled"
        : `The run took longer than ${this.process.limits.runMsMax / 1000} seconds and was ended`
    this.endWith({
      kind: "stopped",
      status,
      error: { name: status === "cancelled" ? "Cancelled" : "TimedOut", message },
    })
    this.#exchange?.abort()
    // What it has started cannot be told from what others do there, so the process takes in nobody
    // else and ends with the last of them.
    this.process.retire()
    this.release()
    if (this.process.runs === 0) void this.process.sandbox.stop()
  }

  sweep(nowMs: number): void {
    if (this.isWaiting && nowMs - this.startedMs > this.process.limits.runMsMax)
      this.stop("timed_out")
    else if (this.#exchange && this.#exchange.state !== "over" && this.#client?.signal.aborted)
      this.#exchange.abort()
  }

  release(): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.isWaiting = false
    // It is known for a while longer, for the sake of late logs; what it held must not be.
    this.#exchange = undefined
    this.#client = undefined
    this.#end = undefined
    this.#settle = undefined
    this.process.removeRun(this)
    this.#giveTurnBack()
  }

  endWith(outcome: Stopped): void {
    this.#outcome ??= outcome
    this.#end?.(this.#outcome)
  }

  noteLog(): void {
    this.#logCount++
    this.#onLog?.()
  }

  #giveTurnBack(): void {
    if (!this.#hasTurn) return
    this.#hasTurn = false
    this.#usher.releaseRun(this)
  }

  /** The outcome, or what ended the run before there was one. */
  #untilEnded<T>(begin: (settle: (outcome: T | Stopped) => void) => void): Promise<T | Stopped> {
    if (this.#outcome) return Promise.resolve(this.#outcome)
    return new Promise((resolve) => {
      this.#end = resolve
      begin(resolve)
    })
  }

  #send(
    request: GuestRequest,
    onAnswer: (answer: ValResponse) => void,
    settle: (outcome: Stopped) => void,
  ): void {
    const onFailure = (failure: GuestFailure) => void this.#explain(failure).then(settle)
    this.#exchange = this.process.client.send(request, { onAnswer, onFailure })
  }

  /**
   * There is no answer: because the process ended, which it will say in a moment, or the client
   * went, or the val is up to something.
   */
  async #explain({ kind, message }: GuestFailure): Promise<Stopped> {
    if (this.#client?.signal.aborted)
      return {
        kind: "stopped",
        status: "cancelled",
        error: { name: "Cancelled", message: "The client went away" },
      }
    if (kind !== "closed")
      return {
        kind: "stopped",
        status: "failed",
        error: { name: failureNames[kind], message: explain(kind, message) },
      }
    await Promise.race([this.process.sandbox.exited, Bun.sleep(lateLogsMs)])
    return (
      this.#outcome ?? {
        kind: "stopped",
        status: "crashed",
        error: { name: brokenResponse, message: explain(kind, message) },
      }
    )
  }

  async #findRefusal(): Promise<ValResponse | undefined> {
    const deadlineMs = performance.now() + lateLogsMs
    while (performance.now() < deadlineMs && this.process.state !== "gone") {
      const refusal = this.process.takeRefusal(this.run.id)
      if (refusal) return toAnswer(refusal)
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

const failureNames = {
  unsendable: "UnsendableRequest",
  body: "BrokenRequest",
  invalid: brokenResponse,
  aborted: "Cancelled",
}

function explain(kind: GuestFailure["kind"], message: string): string {
  if (kind === "closed") return `The val broke off its answer: ${message}`
  if (kind === "invalid") return `The val gave an answer that cannot be read: ${message}`
  return kind === "aborted" ? "The run was ended" : `The request did not reach the val: ${message}`
}

function isFailure({ headers }: ValResponse): boolean {
  for (const [name] of headers) if (name === failureHeader) return true
  return false
}

function toAnswer({
  status,
  headers,
  body,
}: Pick<Refused, "status" | "headers" | "body">): ValResponse {
  const isProper = Number.isInteger(status) && headers.every(isProperHeader)
  if (!isProper) return { status: 502, headers: [], body: null }
  return {
    status,
    headers: headers.map(([name, value]) => [name.toLowerCase(), value]),
    body: status === 204 || status === 304 ? null : Buffer.from(body, "base64"),
  }
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
