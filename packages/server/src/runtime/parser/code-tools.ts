import { AppError } from "../../domain/app-error.ts"
import { mayImport } from "../../domain/modules/import-address.ts"
import type { WorkerOptions } from "../worker-processes/worker-launch.ts"
import { type ByteCache, createByteCache } from "./byte-cache.ts"
import { type CodeToolsLimits, codeToolsLimits } from "./code-tools-limits.ts"
import type { ParseFailure, ParseOutcome, ParseTask } from "./parser-messages.ts"
import { ParserPool } from "./parser-pool.ts"

/**
 * A piece of code that was given up on: worth a line in the log, since somebody's references are
 * missing or somebody is attacking.
 */
export interface ParseFailureReport {
  readonly task: ParseTask
  readonly reason: ParseFailure["kind"]
  readonly owner: string | undefined
  readonly codeChars: number
}

/** What may be chosen about them. */
export interface CodeToolsOptions {
  readonly limits?: Partial<CodeToolsLimits>
  readonly isolation?: WorkerOptions["isolation"]
  readonly onGaveUp?: (gaveUp: ParseFailureReport) => void
  readonly onWeak?: WorkerOptions["onWeak"]
}

/**
 * Reads people's code without running it, in processes of its own: nothing that the code contains
 * can hold up or bring down the server.
 */
export class CodeTools {
  readonly #limits: CodeToolsLimits
  readonly #onGaveUp: (gaveUp: ParseFailureReport) => void
  readonly #pool: ParserPool
  readonly #modules: ByteCache<ParseOutcome>
  /** What is being made now, so that many who ask for one module at once start one parser. */
  readonly #making = new Map<string, Promise<ParseOutcome>>()

  constructor({ limits, isolation = "auto", onGaveUp = () => {}, onWeak }: CodeToolsOptions = {}) {
    this.#limits = { ...codeToolsLimits, ...limits }
    this.#onGaveUp = onGaveUp
    this.#pool = new ParserPool(this.#limits, { isolation, onWeak })
    this.#modules = createByteCache(this.#limits.cachedBytesMax)
  }

  /** How many parser processes there are, and how much the cached modules weigh. */
  get usage(): { readonly processes: number; readonly cachedBytes: number } {
    return { processes: this.#pool.size, cachedBytes: this.#modules.bytes() }
  }

  /**
   * The specifiers of static and dynamic imports and of re-exports, in order and each once; none
   * for code that does not parse, or takes the parser too long. One `owner` gets one parser at a
   * time.
   */
  async scanImports(code: string, owner?: string): Promise<readonly string[]> {
    if (!mayImport(code)) return []
    const outcome = await this.#parse("scan_imports", code, owner)
    if (outcome.kind === "overloaded")
      throw new AppError(
        "rate_limited",
        "Cannot read the imports of the code: too much code is waiting to be read",
      )
    return outcome.kind === "imports" ? outcome.specifiers : []
  }

  /**
   * The same for many, in their order. They are read together; where that takes too much, one by
   * one, so that a piece which is too much for the parser costs the others nothing but time.
   */
  async scanManyImports(
    codes: readonly string[],
    owner?: string,
  ): Promise<readonly (readonly string[])[]> {
    const found: (readonly string[])[] = []
    for (const some of toGroups(codes, this.#limits)) {
      const outcome =
        some.length > 1
          ? await this.#pool.run({ task: "scan_many_imports", codes: some }, owner)
          : undefined
      if (outcome?.kind === "many_imports") found.push(...outcome.specifiers)
      else for (const code of some) found.push(await this.scanImports(code, owner))
    }
    return found
  }

  /** The code as a JavaScript module for browsers. Fails with `module_not_parsable`. */
  async toJavaScript(code: string, owner?: string): Promise<string> {
    const outcome = await this.#findOrMakeModule(code, owner)
    if (outcome.kind === "javascript") return outcome.code
    if (outcome.kind === "overloaded")
      throw new AppError(
        "rate_limited",
        "Cannot turn the code into JavaScript: too much code is waiting to be turned",
      )
    throw new AppError(
      "module_not_parsable",
      `Cannot turn the code into JavaScript: ${this.#describe(outcome)}`,
    )
  }

  /** Ends the parsers. Calls that wait for one fail, and so do later ones. */
  async stop(): Promise<void> {
    await this.#pool.stop()
  }

  async #findOrMakeModule(code: string, owner: string | undefined): Promise<ParseOutcome> {
    // Cryptographic, because with a hash that one can collide, one could have one's own module
    // served as somebody else's.
    const key = new Bun.CryptoHasher("sha256").update(code).digest("base64")
    const found = this.#modules.get(key) ?? this.#making.get(key)
    if (found !== undefined) return found
    const making = this.#makeModule(key, code, owner)
    this.#making.set(key, making)
    return making
  }

  async #makeModule(key: string, code: string, owner: string | undefined): Promise<ParseOutcome> {
    try {
      const outcome = await this.#parse("to_javascript", code, owner)
      // Two bytes per character is the most that a string takes. A failure may be the moment's
      // fault, so it is not kept.
      if (outcome.kind === "javascript") this.#modules.set(key, outcome, outcome.code.length * 2)
      if (outcome.kind === "refused") this.#modules.set(key, outcome, outcome.message.length * 2)
      return outcome
    } finally {
      this.#making.delete(key)
    }
  }

  async #parse(task: ParseTask, code: string, owner: string | undefined): Promise<ParseOutcome> {
    const outcome = await this.#pool.run({ task, code }, owner)
    if (isFailure(outcome))
      this.#onGaveUp({ task, reason: outcome.kind, owner, codeChars: code.length })
    return outcome
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

function isFailure(outcome: ParseOutcome): outcome is ParseFailure {
  return (
    outcome.kind === "timed_out" || outcome.kind === "out_of_memory" || outcome.kind === "crashed"
  )
}
