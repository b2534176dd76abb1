import type { OutgoingRequest } from "../../domain/egress.ts"
import type { ImportHosts } from "../../domain/modules/import-address.ts"
import type {
  Bundle,
  DependencyResolver,
  LockedImport,
  ResolvedCode,
} from "../../domain/modules/lockfiles.ts"
import { isRemoteImport } from "../../domain/modules/remote-imports.ts"
import type { ToolFailure, ToolOutcome } from "../sandbox/launch/tool-run.ts"
import { ConcurrencyLimit } from "./concurrency-limit.ts"
import { type Explanation, explainFailure } from "./explain-failure.ts"
import { findRegistry } from "./find-registry.ts"
import { type ResolverResponse, readCompileResponse, readResolveResponse } from "./read-response.ts"
import type { ResolverLimits } from "./resolver-limits.ts"
import { createTools, type ToolHost, type Tools } from "./resolver-tools.ts"
import type { ResolveRequest } from "./tool/tool-messages.ts"

export type { ToolHost } from "./resolver-tools.ts"

/** What the resolver needs of the rest of the program. */
export interface ResolverDeps {
  readonly tools: () => Promise<ToolHost>
  /** What is there is not remote. */
  readonly importHosts: ImportHosts
  /** Undefined: that of the machine's npm configuration. */
  readonly npmRegistry: string | undefined
  readonly jsrUrl: string
  /**
   * Opens the only way out that fetching has. `allow` are the registries, as `host:port`: the
   * operator has named them, so they may be reached wherever they are. `note` hears what came of
   * each request.
   */
  openEgress(
    path: string,
    options: { readonly allow: readonly string[]; note(request: OutgoingRequest): void },
  ): { stop(): void }
  readonly limits: ResolverLimits
  readonly onError: (error: unknown) => void
}

/**
 * Resolves what code imports. Whatever reads the code or the packages does so in a sandbox, and nothing of it is ever run:
 *
 *   resolve tool   Deno finds the imports and fetches them, esbuild makes one script of them
 *   compile tool   V8 makes its cache of that script, in a sandbox of its own that has seen no package
 */
export class SandboxedResolver implements DependencyResolver {
  readonly #deps: ResolverDeps
  readonly #turns: ConcurrencyLimit
  readonly #stopping = new AbortController()
  #tools: Promise<Tools> | undefined
  #registry: Promise<string> | undefined

  constructor(deps: ResolverDeps) {
    this.#deps = deps
    this.#turns = new ConcurrencyLimit(deps.limits.atOnceMax)
  }

  async resolve({
    code,
    signal,
  }: {
    readonly code: string
    readonly signal: AbortSignal
  }): Promise<ResolvedCode> {
    const either = AbortSignal.any([signal, this.#stopping.signal])
    return await this.#turns.run(either, () => this.#resolve(code, either))
  }

  /** Ends what is going on; those who wait for it get an AbortError. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#turns.whenIdle()
  }

  async #resolve(code: string, signal: AbortSignal): Promise<ResolvedCode> {
    const { limits, onError } = this.#deps
    const deadlineMs = performance.now() + limits.resolveMsMax
    const tools = await this.#prepare()
    const requests: OutgoingRequest[] = []
    const outcome = await this.#runResolve(tools, code, requests, signal)
    const answer = readResolveResponse(
      outcome.kind === "done" ? outcome.output : outcome.partial,
      limits.answerBytesMax,
    )
    if (outcome.kind === "failed" || !answer?.imports) {
      const said = outcome.kind === "failed" ? outcome.said : "the tool makes no sense"
      if (outcome.kind === "done" || outcome.reason === "exited")
        onError(new Error(`Cannot resolve imports: ${said}`))
      return toFailed(
        answer?.found ?? guessImports(code, this.#deps),
        outcome.kind === "failed" ? toExplanation(outcome, limits) : crashed,
      )
    }
    const bundled =
      answer.bundle &&
      (await this.#compile(tools, answer.bundle, deadlineMs - performance.now(), signal))
    return toResolvedCode(answer, answer.imports, bundled, requests)
  }

  /** Anew after it has failed. */
  async #prepare(): Promise<Tools> {
    this.#tools ??= createTools(this.#deps.tools).catch((error) => {
      this.#tools = undefined
      throw error
    })
    return await this.#tools
  }

  async #runResolve(
    tools: Tools,
    code: string,
    requests: OutgoingRequest[],
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const { limits, jsrUrl, importHosts, npmRegistry } = this.#deps
    this.#registry ??= npmRegistry === undefined ? findRegistry() : Promise.resolve(npmRegistry)
    const registry = await this.#registry
    const request: ResolveRequest = {
      code,
      baseUrls: importHosts.baseUrls,
      npmRegistry: registry,
      jsrUrl,
      limits: toResolveLimits(limits),
    }
    const allow = [registry, jsrUrl].map(toHostAndPort)
    const note = (one: OutgoingRequest) => {
      if (requests.length < requestsNotedMax) requests.push(one)
    }
    return await tools.host.runTool({
      tool: tools.resolve,
      input: new TextEncoder().encode(JSON.stringify(request)),
      limits: {
        ...limits,
        msMax: limits.resolveMsMax,
        outputBytesMax: limits.bundleBytesMax + 2 * limits.answerBytesMax,
      },
      openEgress: (path) => this.#deps.openEgress(path, { allow, note }),
      signal,
    })
  }

  /** Without the cache a bundle is only slower, so that is no reason to have none. */
  async #compile(
    tools: Tools,
    code: Uint8Array,
    msLeft: number,
    signal: AbortSignal,
  ): Promise<Bundle | Explanation> {
    const { limits, onError } = this.#deps
    const outcome = await tools.host.runTool({
      tool: tools.compile,
      input: code,
      limits: {
        ...limits,
        msMax: Math.max(msLeft, compileMsMin),
        outputBytesMax: cacheShareMax * limits.bundleBytesMax,
      },
      signal,
    })
    const compiled =
      outcome.kind === "done"
        ? readCompileResponse(outcome.output, limits.answerBytesMax)
        : undefined
    if (compiled?.error)
      return { error: `it cannot be bundled: ${compiled.error}`, isTemporary: false }
    if (!compiled)
      onError(
        new Error(
          `Cannot compile a bundle: ${outcome.kind === "done" ? "the tool makes no sense" : outcome.said}`,
        ),
      )
    const hash = new Bun.CryptoHasher("sha256").update(code).digest("hex")
    return { hash, code, cache: compiled?.cache ?? null }
  }
}

const requestsNotedMax = 10_000
const compileMsMin = 5_000
/** V8's cache of code can be larger than the code. */
const cacheShareMax = 4

function toResolveLimits(limits: ResolverLimits): ResolveRequest["limits"] {
  const { importsMax, placesMax, packagesMax, modulesMax, bundleBytesMax, exportsMax } = limits
  return { importsMax, placesMax, packagesMax, modulesMax, bundleBytesMax, exportsMax }
}

function toHostAndPort(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`
}

const crashed: Explanation = {
  error: "it could not be resolved: something in it brings the resolver down",
  isTemporary: true,
}

function toExplanation({ reason }: ToolFailure, limits: ResolverLimits): Explanation {
  const { resolveMsMax, memoryBytesMax, scratchBytesMax } = limits
  if (reason === "time")
    return {
      error: `it could not be resolved within ${Math.ceil(resolveMsMax / 1000)} s`,
      isTemporary: true,
    }
  if (reason === "memory")
    return {
      error: `to resolve it takes more than ${memoryBytesMax} bytes of memory`,
      isTemporary: false,
    }
  if (reason === "files")
    return { error: `what it needs is larger than ${scratchBytesMax} bytes`, isTemporary: false }
  if (reason === "output" || reason === "cpu" || reason === "processes")
    return { error: "to resolve it takes more than it may", isTemporary: false }
  return crashed
}

/**
 * Nobody could read the code; what in it looks like an import is at least named, so that it is
 * known that something is wrong.
 */
function guessImports(
  code: string,
  { importHosts, limits }: ResolverDeps,
): ResolverResponse["found"] {
  const texts = new Set(
    Array.from(code.matchAll(/["'`]((?:npm|jsr|https?):[^"'`\s]+)["'`]/g), ([, text = ""]) => text),
  )
  const specifiers = [...texts]
    .filter((text) => isRemoteImport(text, importHosts))
    .slice(0, limits.importsMax)
  return specifiers.map((specifier) => ({ specifier, places: [] }))
}

function toFailed(
  found: ResolverResponse["found"],
  { error, isTemporary }: Explanation,
): ResolvedCode {
  const imports = found.map(
    ({ specifier, places }): LockedImport => ({
      specifier,
      places,
      resolved: null,
      error,
      entry: -1,
      exports: [],
    }),
  )
  return { imports, bundle: null, isTemporary }
}

function toResolvedCode(
  answer: ResolverResponse,
  imports: NonNullable<ResolverResponse["imports"]>,
  bundled: Bundle | Explanation | null,
  requests: readonly OutgoingRequest[],
): ResolvedCode {
  if (bundled && "error" in bundled) return toFailed(answer.found, bundled)
  let isTemporary = false
  const locked = imports.map(
    ({ specifier, places, resolved, failure, entry, exports }): LockedImport => {
      const explained = failure && explainFailure(failure, requests)
      isTemporary ||= explained?.isTemporary ?? false
      return { specifier, places, resolved, error: explained?.error ?? null, entry, exports }
    },
  )
  return { imports: locked, bundle: bundled, isTemporary }
}
