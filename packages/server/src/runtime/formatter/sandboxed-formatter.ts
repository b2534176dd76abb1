import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { limits as contractLimits } from "@hamlet/contract"
import { z } from "zod"
import { AppError } from "../../domain/app-error.ts"
import type { CodeFormatter, CodeStyle, FormatOutcome } from "../../domain/modules/format-code.ts"
import { OpenCounts } from "../../shared/counter.ts"
import { FairSlots } from "../../shared/fair-queue.ts"
import { parseJson as parseBoundedJson, toOwnJson } from "../../shared/hostile-input/bounded.ts"
import { bundleProgram } from "../sandbox/bundle-program.ts"
import type { ToolFailure, ToolLimits } from "../sandbox/launch/tool-run.ts"
import type { Tool } from "../sandbox/profiles/tool-profile.ts"
import type { Sandboxes } from "../sandbox/sandboxes.ts"
import type { FormatRequest, FormatResponse } from "./format-tool.ts"

const mebibyte = 1024 ** 2

/** What formatting may use. `deno fmt` takes 10 ms, and its sandbox about 100 ms. */
export const formatterLimits = {
  atOnceMax: Math.max(1, Math.floor(availableParallelism() / 2)),
  /** Including those that wait. Other users are not delayed by more than these. */
  perOwnerMax: 4,
  waitingMax: 40,
  reasonCharsMax: 300,
  tool: {
    msMax: 10_000,
    // Any character may need six in JSON.
    outputBytesMax: 6 * contractLimits.codeCharsMax + 1_000,
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

/** Formats code with `deno fmt` in a sandbox, without network: Deno parses code of users. */
export class SandboxedFormatter implements CodeFormatter {
  readonly #findHost: () => Promise<Sandboxes>
  readonly #onError: (error: unknown) => void
  readonly #limits: Limits
  readonly #slots: FairSlots
  readonly #stopping = new AbortController()
  readonly #perOwner = new OpenCounts()
  #waiting = 0
  #tool: Promise<{ readonly host: Sandboxes; readonly tool: Tool }> | undefined

  constructor(
    findHost: () => Promise<Sandboxes>,
    onError: (error: unknown) => void,
    limits: Limits = formatterLimits,
  ) {
    this.#findHost = findHost
    this.#onError = onError
    this.#limits = limits
    this.#slots = new FairSlots(limits.atOnceMax, {}, tooMuch)
  }

  async format(code: string, style: CodeStyle, ownerId: string): Promise<FormatOutcome> {
    const { perOwnerMax, waitingMax } = this.#limits
    const endCount =
      this.#waiting < waitingMax ? this.#perOwner.tryOpen(ownerId, perOwnerMax) : undefined
    if (!endCount) throw tooMuch()
    this.#waiting += 1
    try {
      const { signal } = this.#stopping
      return await this.#slots.run(ownerId, () => this.#run(code, style, signal), signal)
    } finally {
      this.#waiting -= 1
      endCount()
    }
  }

  /** Ends all formatting. It rejects with an AbortError. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#slots.whenIdle()
  }

  async #run(code: string, style: CodeStyle, signal: AbortSignal): Promise<FormatOutcome> {
    const { host, tool } = await this.#prepare()
    const { codeCharsMax } = contractLimits
    const request: FormatRequest = { code, style, codeCharsMax }
    const input = new TextEncoder().encode(toOwnJson(request))
    const outcome = await host.runTool({ tool, input, limits: this.#limits.tool, signal })
    if (outcome.kind === "failed") return this.#explain(outcome)
    const response = readResponse(outcome.output, this.#limits.reasonCharsMax)
    if (response) return response
    this.#onError(new Error("Cannot format code: the tool wrote invalid output"))
    return crashed
  }

  #explain({ reason, stderr }: ToolFailure): FormatOutcome {
    if (reason === "time" || reason === "cpu")
      return { kind: "refused", reason: "it takes too long" }
    if (reason === "memory") return { kind: "refused", reason: "it takes too much memory" }
    this.#onError(new Error(`Cannot format code (${reason}): ${stderr}`))
    return crashed
  }

  /** Tries again after a failure. */
  #prepare(): Promise<{ readonly host: Sandboxes; readonly tool: Tool }> {
    this.#tool ??= createTool(this.#findHost).catch((error: unknown) => {
      this.#tool = undefined
      throw error
    })
    return this.#tool
  }
}

const crashed: FormatOutcome = { kind: "refused", reason: "the formatter has failed" }

async function createTool(findHost: () => Promise<Sandboxes>) {
  const host = await findHost()
  const program = host.addProgram("format.js", await bundleProgram(toolPath))
  const permissions = ["--allow-read", "--allow-env", "--allow-run"]
  return { host, tool: { program, helpers: {}, permissions } }
}

const toolPath = fileURLToPath(new URL("./format-tool.ts", import.meta.url))

const responseSchema: z.ZodType<FormatResponse> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("formatted"), code: z.string().max(contractLimits.codeCharsMax) }),
  z.object({ kind: z.literal("refused"), reason: z.string() }),
])

/** The tool has run a parser on code of users, so nothing that it writes is trusted. */
function readResponse(output: Uint8Array, reasonCharsMax: number): FormatOutcome | undefined {
  const response = responseSchema.safeParse(parseJson(output)).data
  if (response?.kind !== "refused") return response
  return { kind: "refused", reason: response.reason.slice(0, reasonCharsMax) }
}

/** Code in JSON: a character may be an escape of six. */
const outputCharsMax = 6 * contractLimits.codeCharsMax + 1_000

function parseJson(output: Uint8Array): unknown {
  try {
    return parseBoundedJson(new TextDecoder().decode(output), outputCharsMax)
  } catch {
    return undefined
  }
}

function tooMuch(): AppError {
  return new AppError("overloaded", "Cannot format the code: too much code is being formatted")
}
