import type { HeaderList } from "@hamlet/http1"
import { isJsonText, noMask } from "@hamlet/kit"
import {
  type CallArgs,
  type CallOutcome,
  type Client,
  type HttpOutcome,
  isMailCall,
  type MailCall,
  type Program,
  type RunListener,
  type Runner,
  type RunSlot,
  type SlotRequest,
  type SocketOutcome,
  type Stopped,
} from "@hamlet/sandbox"
import { toProgramResponse } from "@hamlet/sandbox/testing"
import { AppError } from "../../../src/domain/app-error.ts"
import { idleStatus } from "./idle-status.ts"

type Exported = ((...args: unknown[]) => unknown) | undefined

/**
 * Runs the code of tests in this process, without any sandbox: for the rules around runs, which
 * must not depend on how a val is run. The code is JavaScript that ends with one `export default`.
 */
export class FakeRunner implements Runner {
  readonly slots: FakeSeat[] = []
  /** The error that `acquire` throws. */
  refusal: AppError | undefined
  /** While it is set, every run waits for it before it gets a slot. */
  gate: Promise<void> | undefined
  /** Called before a slot is acquired. */
  onEnter: ((run: RunListener) => Promise<void>) | undefined
  /** Whether every value that is returned is too large. */
  isTruncated = false

  async acquire(program: Program, run: RunListener, client?: Client): Promise<RunSlot> {
    const slot = await this.#acquire(program, run, client)
    await run.begin?.(slot)
    return slot
  }

  async #acquire(program: Program, run: RunListener, client?: Client): Promise<RunSlot> {
    if (this.refusal) throw this.refusal
    const slot = new FakeSeat(program, run, this.isTruncated)
    this.slots.push(slot)
    if (this.onEnter) return this.onEnter(run).then(() => slot)
    if (!this.gate) return slot
    const signal = client?.signal
    const gone = new Promise<never>((_, reject) =>
      signal?.addEventListener("abort", () => reject(signal.reason)),
    )
    return Promise.race([this.gate.then(() => slot), gone])
  }

  retire(): void {}

  endAll(): void {}

  runsOf(accountId: string): number {
    const isOpen = ({ hasLeft, program }: FakeSeat) => !hasLeft && program.accountId === accountId
    return this.slots.filter(isOpen).length
  }

  status() {
    return { ...idleStatus, runs: this.slots.filter((slot) => !slot.hasLeft).length }
  }
}

/** A slot without a process. */
class FakeSeat implements RunSlot {
  readonly mask = noMask
  readonly #program: Program
  readonly #run: RunListener
  readonly #isTruncated: boolean
  readonly #stopped = Promise.withResolvers<Stopped>()
  hasLeft = false

  constructor(program: Program, run: RunListener, isTruncated: boolean) {
    this.#program = program
    this.#run = run
    this.#isTruncated = isTruncated
  }

  get program(): Program {
    return this.#program
  }

  call(given: CallArgs | MailCall): Promise<CallOutcome> {
    return this.#race(async () => {
      const args = toArgs(given)
      const value = await (await this.#load())?.(...args)
      const json = JSON.stringify(value) ?? "null"
      return { kind: "returned", json, kept: JSON.parse(json), isTruncated: this.#isTruncated }
    })
  }

  fetch({ method, host, target, headers, body }: SlotRequest): Promise<HttpOutcome> {
    return this.#race(async () => {
      const request = new Request(`http://${host}${target}`, {
        method,
        headers: toInit(headers),
        body: body as BodyInit | null,
      })
      return {
        kind: "responded",
        response: toProgramResponse((await (await this.#load())?.(request)) as Response),
      }
    })
  }

  connect(): Promise<SocketOutcome> {
    throw new AppError("internal", "Cannot open a WebSocket: the fake has none")
  }

  stop(status: "cancelled" | "timed_out"): void {
    const message = status === "cancelled" ? "The run was cancelled" : "The run took too long"
    this.#stopped.resolve({ kind: "stopped", status, error: { name: "Stopped", message } })
  }

  release(): void {
    this.hasLeft = true
  }

  async #race<Outcome>(work: () => Promise<Outcome>): Promise<Outcome | Stopped> {
    const done = work().catch(
      (error: unknown): Stopped => ({
        kind: "stopped",
        status: "failed",
        error: toRunError(error),
      }),
    )
    return Promise.race([done, this.#stopped.promise])
  }

  async #load(): Promise<Exported> {
    const { modules } = await this.#program.load()
    const code = modules.find((module) => module.url === this.#program.entryUrl)?.code ?? ""
    const log = (level: "log" | "warn" | "error") => (message: unknown) =>
      this.#run.log({ at: new Date().toISOString(), level, message: String(message) })
    const body = code.includes("export default")
      ? code.replace("export default", "return")
      : "return undefined"
    const evaluate = new Function("console", `return (async () => { ${body} })()`) as (
      console: object,
    ) => Promise<unknown>
    const exported = await evaluate({ log: log("log"), warn: log("warn"), error: log("error") })
    return (typeof exported === "function" ? exported : () => exported) as Exported
  }
}

function toArgs(given: CallArgs | MailCall): readonly unknown[] {
  if (isMailCall(given)) return [toEmail(Buffer.from(given.mail))]
  if (isJsonText(given)) return JSON.parse(given.json) as unknown[]
  return "typed" in given ? given.typed : given
}

/** Reads a mail as the guest does: the length of the JSON, the JSON, and the bytes of the files. */
function toEmail(bytes: Buffer): object {
  let at = 4 + bytes.readUInt32BE(0)
  const { attachments, ...email } = JSON.parse(bytes.toString("utf8", 4, at)) as {
    readonly attachments: readonly { name: string; type: string; size: number }[]
  }
  const files = attachments.map(({ name, type, size }) => {
    at += size
    return new File([new Uint8Array(bytes.subarray(at - size, at))], name, { type })
  })
  return { ...email, attachments: files }
}

function toInit(headers: HeaderList): [string, string][] {
  return headers.map(([name, value]) => [name, value])
}

function toRunError(error: unknown) {
  return error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack ?? "" }
    : { name: "Error", message: String(error) }
}
