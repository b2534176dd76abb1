import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import {
  FairQueue,
  Loop,
  mapInSlices,
  parseJson,
  prepareOnce,
  RecentMap,
  toOwnJson,
} from "@hamlet/kit"
import { z } from "zod"
import { programLimits } from "../processes/program-limits.ts"
import type { ProgramModule } from "../program/program-module.ts"
import { bundleProgram } from "../sandboxes/bundle-program.ts"
import type { ToolLimits } from "../sandboxes/launch/tool-run.ts"
import { toModuleFile } from "../sandboxes/module-cache.ts"
import type { Tool } from "../sandboxes/profiles/tool-profile.ts"
import type { Sandboxes } from "../sandboxes/sandboxes.ts"
import { emitFormat, isTranspiled, toEmitFile, toEmitKey } from "./emit-file.ts"
import type { TranspileRequest, TranspileResponse } from "./transpile-tool.ts"

const mebibyte = 1024 ** 2

/** What transpiling may use. `deno transpile` takes 10 ms of CPU time, and its sandbox about 45 ms. */
const emitterLimits = {
  /** Modules that wait, of all owners and of one. Others are transpiled where they are loaded. */
  waitingMax: 1_000,
  waitingPerKeyMax: 200,
  waitingBytesMax: 16 * mebibyte,
  /** Modules in one run of the tool, and their characters: no more than a single one may have. */
  batchMax: 50,
  batchCharsMax: programLimits.moduleCharsMax,
  /**
   * How long an owner has saved nothing when its modules are transpiled: a program that runs right after
   * its save has the processor to itself. An owner that saves all the time waits for longer, so that
   * its saves are not slowed down.
   */
  quietMs: 50,
  postponedMsMax: 10_000,
  /** The JavaScript of a module, with its source map. */
  emitBytesMax: mebibyte,
  /** Modules that were loaded once, or cannot be transpiled. */
  notedMax: 20_000,
  /** After each run of the tool nothing is transpiled for so many times as long. */
  restFactor: 2,
  /** How long nothing is transpiled when the tool cannot be started. */
  failedMs: 10_000,
  tool: {
    msMax: 10_000,
    outputBytesMax: 4 * mebibyte,
    memoryBytesMax: 512 * mebibyte,
    heapBytesMax: 64 * mebibyte,
    threadsMax: 64,
    scratchBytesMax: 32 * mebibyte,
    scratchEntriesMax: 1_000,
    openFilesMax: 256,
    fileBytesMax: 16 * mebibyte,
    cpuSecondsMax: 10,
  } satisfies ToolLimits,
}

type Limits = typeof emitterLimits

/**
 * Transpiles modules of programs in the background, in a sandbox, so that no process has to: a module
 * that was saved, and one that a second process loads. A run of the tool has modules of one owner
 * only, so that no code can affect the JavaScript of another user.
 */
export class Emitter {
  readonly #findHost: () => Promise<Sandboxes | undefined>
  readonly #limits: Limits
  readonly #queue: FairQueue<Wanted>
  /** When each owner that waits has its turn, by `performance.now()`. */
  readonly #turns = new Map<string, Turn>()
  readonly #loop: Loop
  readonly #stopping = new AbortController()
  /** The keys of modules that wait, that were loaded once, and that have no JavaScript. */
  readonly #waiting = new Set<string>()
  readonly #loaded: RecentMap<string, true>
  readonly #refused: RecentMap<string, true>
  #findTool: (() => Promise<Tool>) | undefined

  /** `findHost`: undefined as long as no process was started. */
  constructor(
    findHost: () => Promise<Sandboxes | undefined>,
    onError: (error: unknown) => void,
    limits: Partial<Limits> = {},
  ) {
    this.#findHost = findHost
    this.#limits = { ...emitterLimits, ...limits }
    this.#queue = new FairQueue(this.#limits)
    const { failedMs, notedMax } = this.#limits
    this.#loaded = new RecentMap(notedMax)
    this.#refused = new RecentMap(notedMax)
    this.#loop = new Loop({ round: () => this.#round(), failedMs, onError })
  }

  /** Modules that were saved. Their texts are hashed in slices: a save may have a thousand large ones. */
  add(modules: readonly ProgramModule[]): void {
    void mapInSlices(modules, (module) => {
      const key = isTranspiled(module) ? toEmitKey(module) : undefined
      if (key !== undefined) this.#add(key, module)
    })
  }

  /** Modules that a process transpiles. Code that runs only once is not worth more. */
  noteLoaded(modules: readonly ProgramModule[]): void {
    for (const module of modules) {
      const key = toEmitKey(module)
      if (key === undefined) continue
      if (this.#loaded.has(key)) this.#add(key, module)
      else this.#loaded.set(key, true)
    }
  }

  /** Ends the work that goes on. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#queue.clear()
    await this.#loop.stop()
  }

  #add(key: string, { code, type = "tsx", ownerId = "" }: ProgramModule): void {
    if (this.#waiting.has(key) || this.#refused.has(key) || this.#loop.isStopped) return
    const wanted = { key, code, type }
    if (this.#queue.add(ownerId, wanted, { bytes: 2 * code.length })) this.#waiting.add(key)
    if (this.#queue.sizeOf(ownerId) > 0) this.#postpone(ownerId)
  }

  /** Lets an owner wait until it has been quiet, or has waited for long. */
  #postpone(ownerId: string, nowMs = performance.now()): void {
    const { quietMs, postponedMsMax } = this.#limits
    const lastMs = this.#turns.get(ownerId)?.lastMs ?? nowMs + postponedMsMax
    const atMs = Math.min(nowMs + quietMs, lastMs)
    this.#turns.set(ownerId, { atMs, lastMs })
    this.#loop.wakeIn(atMs - nowMs)
  }

  /** Returns how long no owner has its turn. */
  async #round(): Promise<number> {
    const batch = this.#takeBatch()
    if (batch.length > 0) await this.#work(batch)
    const nextMs = Math.min(...this.#turns.values().map(({ atMs }) => atMs))
    return Math.max(0, nextMs - performance.now())
  }

  async #work(batch: readonly Wanted[]): Promise<void> {
    const startedMs = performance.now()
    try {
      await this.#transpile(batch)
    } catch (error) {
      if (!this.#stopping.signal.aborted) throw error
    } finally {
      for (const { key } of batch) this.#waiting.delete(key)
    }
    const restMs = this.#limits.restFactor * (performance.now() - startedMs)
    await sleep(restMs, undefined, { signal: this.#stopping.signal }).catch(() => {})
  }

  /** Modules of one owner. */
  #takeBatch(): readonly Wanted[] {
    const { batchMax, batchCharsMax } = this.#limits
    const nowMs = performance.now()
    const first = this.#queue.next((ownerId) => (this.#turns.get(ownerId)?.atMs ?? 0) <= nowMs)
    if (!first) return []
    const batch = [first.about]
    let chars = first.about.code.length
    while (batch.length < batchMax) {
      const next = this.#queue.next(
        (key) => key === first.key,
        ({ code }) => chars + code.length <= batchCharsMax,
      )
      if (!next) break
      batch.push(next.about)
      chars += next.about.code.length
    }
    this.#turns.delete(first.key)
    if (this.#queue.sizeOf(first.key) > 0) this.#postpone(first.key, nowMs)
    return batch
  }

  async #transpile(batch: readonly Wanted[]): Promise<void> {
    const host = await this.#findHost()
    const emits = host?.emits
    const wanted = emits ? batch.filter(({ key }) => !emits.has(key)) : []
    if (!host || !emits || wanted.length === 0) return
    const found = await this.#run(host, wanted)
    for (const [index, module] of wanted.entries()) {
      const { key, code } = module
      const javascript = found?.[index]
      if (javascript)
        await emits.add(key, toEmitFile(code, javascript), Buffer.from(toModuleFile(module)))
      else this.#refused.set(key, true)
    }
  }

  /** Undefined when the tool has failed: most likely one of the modules is the reason. */
  async #run(host: Sandboxes, modules: readonly Wanted[]): Promise<Found | undefined> {
    const request: TranspileRequest = {
      modules: modules.map(({ code, type }) => ({ code, type })),
      bytesMax: this.#limits.emitBytesMax,
    }
    this.#findTool ??= prepareOnce(() => createTool(host))
    const outcome = await host.runTool({
      tool: await this.#findTool(),
      input: new TextEncoder().encode(toOwnJson(request)),
      limits: this.#limits.tool,
      signal: this.#stopping.signal,
    })
    if (outcome.kind === "done") return readResponse(outcome.output, modules.length)
    // Everything else is a limit, which code of users can reach.
    if (outcome.reason === "exited")
      this.#loop.report(new Error(`Cannot transpile code: ${outcome.stderr}`))
    return undefined
  }
}

interface Wanted {
  readonly key: string
  readonly code: string
  readonly type: NonNullable<ProgramModule["type"]>
}

/** `lastMs` is the latest time to which more saves can postpone it. */
interface Turn {
  readonly atMs: number
  readonly lastMs: number
}

type Found = readonly (Uint8Array | undefined)[]

async function createTool(host: Sandboxes): Promise<Tool> {
  const program = host.addProgram("transpile.js", await bundleProgram(toolPath))
  const permissions = ["--allow-read", "--allow-write", "--allow-env", "--allow-run"]
  return { program, helpers: {}, permissions }
}

const toolPath = fileURLToPath(new URL("./transpile-tool.ts", import.meta.url))

const headSchema: z.ZodType<TranspileResponse> = z.object({
  deno: z.string(),
  sizes: z.array(z.int().positive().nullable()),
})

/** A line with the sizes of at most `batchMax` modules. */
const headBytesMax = 2_000

/** The tool has run a parser on code of users, so nothing that it writes is trusted. */
function readResponse(output: Uint8Array, count: number): Found | undefined {
  const headEnd = output.indexOf(0x0a)
  const head = readHead(output.subarray(0, Math.min(Math.max(0, headEnd), headBytesMax)))
  // Deno would not use files of another version.
  if (head?.deno !== emitFormat.deno || head.sizes.length !== count) return undefined
  const found: (Uint8Array | undefined)[] = []
  let at = headEnd + 1
  for (const size of head.sizes) {
    found.push(size === null ? undefined : output.subarray(at, at + size))
    at += size ?? 0
  }
  return at === output.length ? found : undefined
}

function readHead(line: Uint8Array): TranspileResponse | undefined {
  try {
    return headSchema.safeParse(parseJson(new TextDecoder().decode(line), headBytesMax)).data
  } catch {
    return undefined
  }
}
