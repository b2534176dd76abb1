import { fileURLToPath } from "node:url"
import { parseOwnJson, RecentMap, sha256, toOwnJson } from "@hamlet/kit"
import {
  noOwner,
  type WorkerOptions,
  type WorkerOutcome,
  WorkerProcessPool,
  workerDefaults,
} from "@hamlet/sandbox"
import { AppError } from "../../domain/app-error.ts"
import { mayImport } from "../../domain/modules/import-address.ts"
import type { WrittenImport } from "../../domain/modules/imports/written-imports.ts"
import type { ParseRequest, ParseResponse, ParseTask } from "./parser-messages.ts"

/** What reading users' code may cost. Ordinary code takes a few milliseconds and less than 100 MB. */
export const codeToolsLimits = {
  ...workerDefaults,
  requestMsMax: 1_000,
  lifeSecondsMax: 20,
  responseBytesMax: 67_108_864,
  /** The most pieces of code in one request. */
  piecesPerRequestMax: 250,
  /** The most characters of the pieces in one request: no more than a single piece may have. */
  charsPerRequestMax: 256_000,
  /** The memory for JavaScript made from vals, so that a popular module is converted once. */
  cachedBytesMax: 16_777_216,
  /** The memory for the places of imports. */
  placeBytesMax: 8_388_608,
}

export type CodeToolsLimits = Readonly<typeof codeToolsLimits>

type ParseOutcome =
  | ParseResponse
  | Exclude<WorkerOutcome, { readonly kind: "responded" } | { readonly kind: "stopped" }>

/** Code that the parser failed on. Logged, because references are missing or it is an attack. */
export interface ParseFailureReport {
  readonly task: ParseTask
  readonly reason: "timed_out" | "out_of_memory" | "crashed" | "unavailable"
  readonly owner: string | undefined
  readonly codeChars: number
}

/** How the code tools are configured. */
export interface CodeToolsOptions {
  readonly limits?: Partial<CodeToolsLimits>
  readonly isolation?: WorkerOptions["isolation"]
  readonly onFailure?: (report: ParseFailureReport) => void
  readonly onWeak?: WorkerOptions["onWeak"]
}

const program = fileURLToPath(new URL("./parser-main.ts", import.meta.url))

/**
 * Parses users' code without running it, in worker processes: no code can block or crash the
 * server.
 */
export class CodeTools {
  readonly #limits: CodeToolsLimits
  readonly #onFailure: (report: ParseFailureReport) => void
  readonly #processes: WorkerProcessPool
  readonly #modules: RecentMap<string, ParseOutcome>
  readonly #places: RecentMap<string, { readonly places: readonly WrittenImport[] | null }>
  /** Modules that are being converted, so that simultaneous requests share one conversion. */
  readonly #converting = new Map<string, Promise<ParseOutcome>>()
  #isStopped = false

  constructor({ limits, isolation = "auto", onFailure = () => {}, onWeak }: CodeToolsOptions = {}) {
    this.#limits = { ...codeToolsLimits, ...limits }
    this.#onFailure = onFailure
    this.#processes = new WorkerProcessPool({
      isolation,
      onWeak,
      program,
      limits: this.#limits,
      isRepeatable: true,
    })
    const { cachedBytesMax, placeBytesMax } = this.#limits
    this.#modules = new RecentMap(cachedBytesMax, { sizeOf: countBytes })
    this.#places = new RecentMap(placeBytesMax, {
      sizeOf: ({ places }) => cachedBytes + (places?.length ?? 0) * placeBytes,
    })
  }

  /** The number of parser processes, and the size of the cached modules. */
  get usage(): { readonly processes: number; readonly cachedBytes: number } {
    return { processes: this.#processes.size, cachedBytes: this.#modules.sizes }
  }

  /**
   * The specifiers of static and dynamic imports and of re-exports, in order and each once; none
   * for code that does not parse, or exceeds a limit. An owner uses one parser at a time. Fails with
   * `sandbox_unavailable` when no parser starts: a version that is saved without its imports would
   * never get its packages.
   */
  async scanImports(code: string, owner?: string): Promise<readonly string[]> {
    if (!mayImport(code)) return []
    const outcome = await this.#parse("scan_imports", code, owner, "read the imports of the code")
    return outcome.kind === "imports" ? outcome.specifiers : []
  }

  /**
   * The specifiers that many pieces of code import, in their order. The pieces are parsed together.
   * When that fails, they are parsed one by one, so that one piece cannot fail the others.
   */
  async scanManyImports(
    codes: readonly string[],
    owner?: string,
  ): Promise<readonly (readonly string[])[]> {
    const found: (readonly string[])[] = []
    for (const group of toGroups(codes, this.#limits)) {
      const outcome =
        group.length > 1
          ? await this.#ask({ task: "scan_many_imports", codes: group }, owner)
          : undefined
      if (outcome?.kind === "many_imports") found.push(...outcome.specifiers)
      else for (const code of group) found.push(await this.scanImports(code, owner))
    }
    return found
  }

  /**
   * The imports of code with their places; null if they cannot be told. Texts are cached: a process
   * is started for the same text again and again.
   */
  async scanPlaces(code: string, owner?: string): Promise<readonly WrittenImport[] | null> {
    if (!mayImport(code)) return []
    const key = toKey(code)
    const known = this.#places.get(key)
    if (known) return known.places
    const outcome = await this.#parse("scan_places", code, owner, "read the imports of the code")
    if (outcome.kind !== "places") return null
    const { places } = outcome
    this.#places.set(key, { places })
    return places
  }

  /** The code as a JavaScript module for browsers. Fails with `module_not_parsable`. */
  async toJavaScript(code: string, owner?: string): Promise<string> {
    const outcome = await this.#findOrConvert(code, owner)
    if (outcome.kind === "javascript") return outcome.code
    throw new AppError(
      "module_not_parsable",
      `Cannot convert the code to JavaScript: ${this.#describe(outcome)}`,
    )
  }

  /** Ends the parsers. Calls that wait for one reject, and so do later ones. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#processes.stop()
  }

  async #findOrConvert(code: string, owner: string | undefined): Promise<ParseOutcome> {
    const key = toKey(code)
    const found = this.#modules.get(key) ?? this.#converting.get(key)
    if (found !== undefined) return found
    const converting = this.#convert(key, code, owner)
    this.#converting.set(key, converting)
    return converting
  }

  async #convert(key: string, code: string, owner: string | undefined): Promise<ParseOutcome> {
    try {
      const outcome = await this.#parse(
        "to_javascript",
        code,
        owner,
        "convert the code to JavaScript",
      )
      // Failures are not cached: they may be temporary.
      if (outcome.kind === "javascript" || outcome.kind === "refused")
        this.#modules.set(key, outcome)
      return outcome
    } finally {
      this.#converting.delete(key)
    }
  }

  /** `goal` completes the sentence "Cannot …" of the error when there is no parser for it. */
  async #parse(
    task: ParseTask,
    code: string,
    owner: string | undefined,
    goal: string,
  ): Promise<ParseOutcome> {
    const outcome = await this.#ask({ task, code }, owner)
    if (outcome.kind === "overloaded")
      throw new AppError("rate_limited", `Cannot ${goal}: too much code is waiting for the parser`)
    if (!("isStarted" in outcome)) return outcome
    const { kind, isStarted, message } = outcome
    const reason = isStarted ? kind : "unavailable"
    this.#onFailure({ task, reason, owner, codeChars: code.length })
    // The code is not the reason.
    if (!isStarted)
      throw new AppError("sandbox_unavailable", `Cannot ${goal}: the parser does not start`, {
        cause: message,
      })
    return outcome
  }

  /** Rejects once the code tools are stopped. */
  async #ask(request: ParseRequest, owner = noOwner): Promise<ParseOutcome> {
    const outcome = await this.#processes.run(owner, toOwnJson(request))
    // An outcome of a killed process would blame the code.
    if (this.#isStopped || outcome.kind === "stopped")
      throw new Error("Cannot parse code: the code tools are stopped")
    return outcome.kind === "responded" ? (parseOwnJson(outcome.head) as ParseResponse) : outcome
  }

  #describe(outcome: ParseOutcome): string {
    if (outcome.kind === "refused") return outcome.message
    if (outcome.kind === "timed_out")
      return `parsing takes longer than ${this.#limits.requestMsMax} ms`
    if (outcome.kind === "out_of_memory")
      return `parsing takes more than ${this.#limits.memoryBytesMax} bytes of memory`
    return "the parser crashed"
  }
}

/** About what the cache needs for a text without places, and for a place. */
const cachedBytes = 200
const placeBytes = 150

/** A string takes at most two bytes per character. */
function countBytes(outcome: ParseOutcome, key: string): number {
  const text =
    outcome.kind === "javascript" ? outcome.code : "message" in outcome ? outcome.message : ""
  return 2 * text.length + key.length
}

/** A cryptographic hash: with collisions, a user could replace the module of another user. */
function toKey(code: string): string {
  return sha256(code).toString("base64")
}

function* toGroups(
  codes: readonly string[],
  limits: CodeToolsLimits,
): Generator<readonly string[]> {
  let group: string[] = []
  let chars = 0
  for (const code of codes) {
    if (
      group.length >= limits.piecesPerRequestMax ||
      chars + code.length > limits.charsPerRequestMax
    ) {
      yield group
      group = []
      chars = 0
    }
    group.push(code)
    chars += code.length
  }
  yield group
}
