import { failureHeader, type Refused } from "@hamlet/guest/protocol"
import { isProperHeader } from "@hamlet/http1"
import { isJsonText, type Mask, toOwnJson } from "@hamlet/kit"
import type {
  GuestExchange,
  GuestFailure,
  GuestRequest,
  ResponseListener,
} from "../guest-client/guest-client.ts"
import { openGuestSocket } from "../guest-client/guest-socket.ts"
import type { GuestValueReader } from "../guest-client/guest-value-reader.ts"
import {
  brokenResponse,
  type CallArgs,
  type CallOutcome,
  type Client,
  cancelledError,
  disconnectedError,
  type HttpOutcome,
  isMailCall,
  type MailCall,
  type ProgramResponse,
  type RunListener,
  type RunSlot,
  type SlotRequest,
  type SocketOutcome,
  type Stopped,
} from "../program/runner.ts"
import type { ActiveRun } from "./active-runs.ts"
import type { LoadOutcome, ProgramProcess } from "./program-process.ts"

/** The supervisor, which gives out slots. */
export interface RunSlotOwner {
  /** Reads what programs return. */
  readonly valueReader: GuestValueReader
  /** Moves the run to another process of the same program, which serves only this run. */
  moveToFreshProcess(slot: ProcessRunSlot): Promise<Stopped | undefined>
  /** The run no longer counts for the RunLimiter. */
  releaseRun(slot: ProcessRunSlot): void
}

/**
 * How long logs and other control messages may arrive after a response. They are on their way
 * already, but a busy machine may deliver them late.
 */
const lateMessagesMs = 2_000

/**
 * A run in a process, from `acquire` to `release`. The slot waits until the response begins or the
 * call returns; `stop` and the end of the process end that wait.
 */
export class ProcessRunSlot implements RunSlot, ActiveRun, ResponseListener {
  readonly run: RunListener
  readonly startedMs = performance.now()
  process: ProgramProcess
  isWaiting = true
  #logCount = 0
  readonly #owner: RunSlotOwner
  /** Ends what the run waits for now. */
  #end: ((outcome: Stopped) => void) | undefined
  /** Resolves the request that `fetch` has sent. */
  #settle: ((outcome: HttpOutcome) => void) | undefined
  #outcome: Stopped | undefined
  #exchange: GuestExchange | undefined
  #client: Client | undefined
  #onLog: (() => void) | undefined
  /** Set while a WebSocket is being opened. */
  #refusal: PromiseWithResolvers<Refused> | undefined
  #isReleased = false
  #isCounted = true

  constructor(run: RunListener, process: ProgramProcess, owner: RunSlotOwner) {
    this.run = run
    this.process = process
    this.#owner = owner
  }

  get mask(): Mask {
    return this.process.secretMask
  }

  /** How the run was ended early, if it was. */
  get outcome(): Stopped | undefined {
    return this.#outcome
  }

  /** Resolves with undefined when the module is loaded, else with what ended the run. */
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

  onResponse(response: ProgramResponse): void {
    const settle = this.#settle
    // The slot goes on waiting: a failure must be complete when another response must begin.
    if (isFailure(response)) {
      void this.#owner.valueReader
        .readFailure(response, this.process)
        .then(({ outcome }) => settle?.(outcome))
      return
    }
    this.isWaiting = false
    settle?.({ kind: "responded", response })
  }

  onFailure(failure: GuestFailure): void {
    const settle = this.#settle
    void this.#explain(failure).then((outcome) => settle?.(outcome))
  }

  connect(request: SlotRequest): Promise<SocketOutcome> {
    this.#client = request.client
    return this.#untilEnded<SocketOutcome>((settle) => {
      const path = `/h${this.run.id}${request.target}`
      const refusal = Promise.withResolvers<Refused>()
      this.#refusal = refusal
      openGuestSocket(this.process.sandbox.socketPath, path, request).then(
        (socket) => {
          this.#refusal = undefined
          // The run was ended meanwhile, so that no relay closes the socket.
          if (this.#isReleased) return void socket.close()
          this.isWaiting = false
          // An open WebSocket mostly waits. The gateway limits their number.
          this.#uncount()
          settle({ kind: "opened", socket, protocol: socket.protocol })
        },
        async (error: unknown) => {
          const refused = await this.#untilLate(refusal.promise)
          settle(
            refused
              ? { kind: "refused", response: toResponse(refused) }
              : await this.#explain({ kind: "closed", message: toMessage(error) }),
          )
        },
      )
    })
  }

  async call(args: CallArgs | MailCall): Promise<CallOutcome> {
    const stopped =
      (await this.whenLoaded()) ??
      (this.process.canCallFor(this.run.id)
        ? undefined
        : await this.#owner.moveToFreshProcess(this))
    if (stopped) return stopped
    return this.#untilEnded<CallOutcome>((settle) => {
      const isMail = isMailCall(args)
      const body = isMail ? args.mail : Buffer.from(toCallBody(args))
      const onResponse = async (response: ProgramResponse) => {
        const { outcome, logCount } = isFailure(response)
          ? await this.#owner.valueReader.readFailure(response, this.process)
          : await this.#owner.valueReader.readReturned(response, this.process)
        await this.#waitForLogs(logCount)
        this.process.noteRunEnd(this.run)
        settle(outcome)
      }
      this.#send(
        {
          method: "POST",
          host: "call",
          path: `/${isMail ? "m" : "c"}${this.run.id}`,
          headers: this.run.span ? [["traceparent", this.run.span.traceparent]] : [],
          body,
        },
        (response) => void onResponse(response),
        settle,
      )
    })
  }

  stop(status: "cancelled" | "timed_out"): void {
    const message =
      status === "cancelled"
        ? cancelledError.message
        : `The run took longer than ${this.process.limits.runMsMax / 1000} seconds and was ended`
    this.endWith({
      kind: "stopped",
      status,
      error: { name: status === "cancelled" ? "Cancelled" : "TimedOut", message },
    })
    this.#exchange?.abort()
    // What the run has started cannot be told apart from what other runs do. So the process takes
    // no new runs, and ends with the last one.
    this.process.retire()
    this.release()
    if (this.process.runs === 0) void this.process.sandbox.stop()
    else this.process.askForSign()
  }

  sweep(nowMs: number): void {
    if (this.isWaiting && nowMs - this.startedMs > this.process.limits.runMsMax)
      this.stop("timed_out")
    else if (this.#exchange && this.#exchange.state !== "over" && this.#client?.signal.aborted)
      this.#exchange.abort()
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.isWaiting = false
    // The process keeps the slot a while for late logs. It must not keep what the slot refers to.
    this.#exchange = undefined
    this.#client = undefined
    this.#end = undefined
    this.#settle = undefined
    this.#refusal = undefined
    this.process.removeRun(this)
    this.#uncount()
  }

  endWith(outcome: Stopped): void {
    this.#outcome ??= outcome
    this.#end?.(this.#outcome)
  }

  noteLog(): void {
    this.#logCount++
    this.#onLog?.()
  }

  noteRefusal(refusal: Refused): void {
    this.#refusal?.resolve(refusal)
  }

  #uncount(): void {
    if (!this.#isCounted) return
    this.#isCounted = false
    this.#owner.releaseRun(this)
  }

  /** Waits for an outcome, or for what ends the run before. */
  #untilEnded<T>(begin: (settle: (outcome: T | Stopped) => void) => void): Promise<T | Stopped> {
    if (this.#outcome) return Promise.resolve(this.#outcome)
    return new Promise((resolve) => {
      this.#end = resolve
      begin(resolve)
    })
  }

  #send(
    request: GuestRequest,
    onResponse: (response: ProgramResponse) => void,
    settle: (outcome: Stopped) => void,
  ): void {
    const onFailure = (failure: GuestFailure) => void this.#explain(failure).then(settle)
    this.#exchange = this.process.client.send(request, { onResponse, onFailure })
  }

  /**
   * Why there is no response: the client disconnected, the process ended (which is reported a
   * moment later), or the program sent something invalid.
   */
  async #explain({ kind, message }: GuestFailure): Promise<Stopped> {
    if (this.#client?.signal.aborted)
      return { kind: "stopped", status: "cancelled", error: disconnectedError }
    if (kind !== "closed")
      return {
        kind: "stopped",
        status: "failed",
        error: { name: failureNames[kind], message: explain(kind, message) },
      }
    const { sandbox } = this.process
    await Promise.race([sandbox.exited, Bun.sleep(lateMessagesMs)])
    // What it has sent is still read, which takes long on a busy machine.
    if (sandbox.isEnding) await sandbox.exited
    return (
      this.#outcome ?? {
        kind: "stopped",
        status: "crashed",
        error: { name: brokenResponse, message: explain(kind, message) },
      }
    )
  }

  /** Waits for a message that is on its way. Undefined when the process ends, or it takes too long. */
  #untilLate<Message>(message: Promise<Message>): Promise<Message | undefined> {
    const ended = this.process.sandbox.exited.then(() => undefined)
    return Promise.race([message, ended, Bun.sleep(lateMessagesMs).then(() => undefined)])
  }

  /** Waits until the run has logged `count` lines. */
  async #waitForLogs(count: number): Promise<void> {
    if (this.#logCount >= count) return
    const arrived = Promise.withResolvers<void>()
    this.#onLog = () => {
      if (this.#logCount >= count) arrived.resolve()
    }
    await this.#untilLate(arrived.promise)
    this.#onLog = undefined
  }
}

function toCallBody(args: CallArgs): string {
  if (isJsonText(args)) return `{"args":${args.json}}`
  return toOwnJson("typed" in args ? { args: args.typed, isTyped: true } : { args })
}

const failureNames = {
  unsendable: "UnsendableRequest",
  body: "BrokenRequest",
  invalid: brokenResponse,
  aborted: "Cancelled",
}

function explain(kind: GuestFailure["kind"], message: string): string {
  if (kind === "closed") return `The program did not finish its response: ${message}`
  if (kind === "invalid") return `The program sent an invalid response: ${message}`
  return kind === "aborted"
    ? "The run was ended"
    : `The request did not reach the program: ${message}`
}

function isFailure({ headers }: ProgramResponse): boolean {
  for (const [name] of headers) if (name === failureHeader) return true
  return false
}

function toResponse({
  status,
  headers,
  body,
}: Pick<Refused, "status" | "headers" | "body">): ProgramResponse {
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
