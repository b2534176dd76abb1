import { fileURLToPath } from "node:url"
import { parseOwnJson, toOwnJson } from "../../shared/hostile-input/bounded.ts"
import { toFrame } from "../worker-processes/frames.ts"
import {
  noOwner,
  type WorkerOutcome,
  WorkerProcessPool,
} from "../worker-processes/worker-process-pool.ts"
import type { WorkerOptions } from "../worker-processes/worker-profile.ts"
import type { CodeToolsLimits } from "./code-tools-limits.ts"
import type { ParseOutcome, ParseRequest, ParseResponse, Unavailable } from "./parser-messages.ts"

const programPath = fileURLToPath(new URL("./parser-main.ts", import.meta.url))

/** Parses code in worker processes. */
export class ParserPool {
  readonly #processes: WorkerProcessPool
  #isStopped = false

  constructor(limits: CodeToolsLimits, options: Pick<WorkerOptions, "isolation" | "onWeak">) {
    const program = programPath
    this.#processes = new WorkerProcessPool({ ...options, program, limits, isRepeatable: true })
  }

  /** The number of processes. */
  get size(): number {
    return this.#processes.size
  }

  async run(request: ParseRequest, owner = noOwner): Promise<ParseOutcome | Unavailable> {
    const outcome = await this.#processes.run(owner, [toFrame(toOwnJson(request))])
    // An outcome of a killed process would blame the code.
    if (this.#isStopped) throw new Error("Cannot parse code: the code tools are stopped")
    return toParseOutcome(outcome)
  }

  /** Ends every process at once. Requests that wait or run reject. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#processes.stop()
  }
}

function toParseOutcome(outcome: WorkerOutcome): ParseOutcome | Unavailable {
  if (outcome.kind === "responded")
    return parseOwnJson(outcome.response.toString()) as ParseResponse
  if (outcome.kind === "overloaded") return outcome
  if (outcome.kind === "stopped") return { kind: "crashed" }
  return outcome.isStarted
    ? { kind: outcome.kind }
    : { kind: "unavailable", message: outcome.message }
}
