import { availableParallelism } from "node:os"
import { limits as contractLimits } from "@hamlet/contract"
import { FairSlots } from "@hamlet/kit"
import type { Sandboxes, ToolFailure, ToolLimits } from "@hamlet/sandbox"
import { AppError } from "../../domain/app-error.ts"
import type { CodeFormatter, CodeStyle, FormatOutcome } from "../../domain/modules/format-code.ts"

const mebibyte = 1024 ** 2

/** What formatting may use. `deno fmt` takes 10 ms, and its sandbox about 30 ms. */
export const formatterLimits = {
  atOnceMax: Math.max(1, Math.floor(availableParallelism() / 2)),
  /** Including those that wait. Other users are not delayed by more than these. */
  perKeyMax: 4,
  waitingMax: 40,
  reasonCharsMax: 300,
  tool: {
    msMax: 10_000,
    // In UTF-8, a UTF-16 unit takes at most three bytes.
    outputBytesMax: 3 * contractLimits.codeCharsMax,
    memoryBytesMax: 512 * mebibyte,
    heapBytesMax: 64 * mebibyte,
    threadsMax: 64,
    scratchBytesMax: 16 * mebibyte,
    scratchEntriesMax: 1_000,
    openFilesMax: 256,
    fileBytesMax: 16 * mebibyte,
    cpuSecondsMax: 10,
  } satisfies ToolLimits,
}

type Limits = typeof formatterLimits

/**
 * Formats code with `deno fmt` in a sandbox, without network: Deno parses code of users. Deno reads
 * the code from its standard input, so that no file of the code exists.
 */
export class SandboxedFormatter implements CodeFormatter {
  readonly #findHost: () => Promise<Sandboxes>
  readonly #onError: (error: unknown) => void
  readonly #limits: Limits
  readonly #slots: FairSlots
  readonly #stopping = new AbortController()

  constructor(
    findHost: () => Promise<Sandboxes>,
    onError: (error: unknown) => void,
    limits: Limits = formatterLimits,
  ) {
    this.#findHost = findHost
    this.#onError = onError
    this.#limits = limits
    this.#slots = new FairSlots(limits.atOnceMax, limits, tooMuch)
  }

  async format(code: string, style: CodeStyle, ownerId: string): Promise<FormatOutcome> {
    const { signal } = this.#stopping
    return await this.#slots.run(ownerId, () => this.#run(code, style, signal), { signal })
  }

  /** Ends all formatting. It rejects with an AbortError. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#slots.whenIdle()
  }

  async #run(code: string, style: CodeStyle, signal: AbortSignal): Promise<FormatOutcome> {
    const host = await this.#findHost()
    const command = [
      "fmt",
      "--quiet",
      "--no-config",
      "--ext=tsx",
      ...(style.semicolons ? [] : ["--no-semicolons"]),
      ...(style.quotes === "single" ? ["--single-quote"] : []),
      "-",
    ]
    const input = new TextEncoder().encode(code)
    const limits = this.#limits.tool
    const outcome = await host.runTool({ tool: { command }, input, limits, signal })
    if (outcome.kind === "failed") return this.#explain(outcome)
    const formatted = Buffer.from(outcome.output).toString()
    return formatted.length > contractLimits.codeCharsMax
      ? tooLong
      : { kind: "formatted", code: formatted }
  }

  #explain({ reason, signal, stderr }: ToolFailure): FormatOutcome {
    const said = findReason(stderr)
    if (said !== undefined)
      return { kind: "refused", reason: said.slice(0, this.#limits.reasonCharsMax) }
    if (reason === "output") return tooLong
    if (reason === "time" || reason === "cpu")
      return { kind: "refused", reason: "it takes too long" }
    if (reason === "memory") return { kind: "refused", reason: "it takes too much memory" }
    // Code that is nested too deeply crashes the parser, which is no error of the server.
    const hasCrashed = reason === "exited" && signal !== undefined
    if (!hasCrashed) this.#onError(new Error(`Cannot format code (${reason}): ${stderr}`))
    return { kind: "refused", reason: "the formatter has failed" }
  }
}

const tooLong: FormatOutcome = {
  kind: "refused",
  reason: `the result would have more than ${contractLimits.codeCharsMax} characters`,
}

/** Deno reports the error in a line, and its place in a later one. */
function findReason(stderr: string): string | undefined {
  const message = /error: (?:Error formatting: )?(?:SyntaxError: )?([^\n]+)/.exec(stderr)?.[1]
  const line = /_stdin\.tsx:(\d+):\d+/.exec(stderr)?.[1]
  return line === undefined ? message?.trim() : message && `${message.trim()} (line ${line})`
}

function tooMuch(): AppError {
  return new AppError("overloaded", "Cannot format the code: too much code is being formatted")
}
