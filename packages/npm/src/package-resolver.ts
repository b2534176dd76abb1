import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { FairSlots, prepareOnce, Refused, toOwnJson } from "@hamlet/kit"
import {
  archiveLimits,
  type BundleFiles,
  bundleProgram,
  compressArchive,
  type OutgoingRequest,
  type Sandboxes,
  type Tool,
  type ToolFailure,
  type ToolJob,
  type ToolOutcome,
} from "@hamlet/sandbox"
import { type Explanation, explainFailure } from "./explain-failure.ts"
import { findRegistry } from "./find-registry.ts"
import { hashBundle } from "./hash-bundle.ts"
import type { ImportRules, RulesProgram } from "./import-rules.ts"
import {
  type ResolverResponse,
  type ResponseBundle,
  readCompileResponse,
  readResolveResponse,
} from "./read-response.ts"
import type { Bundle, ResolvedImport, ResolvedPackages, SourceFile } from "./resolved-packages.ts"
import type { ResolverLimits } from "./resolver-limits.ts"
import type { ImportFailure, ResolveRequest } from "./tool/tool-messages.ts"

/** How imports are resolved. */
export interface ResolverOptions<Given> {
  readonly sandboxes: () => Promise<Sandboxes>
  readonly rules: RulesProgram<Given>
  /** Undefined: the registry of the machine's npm configuration. */
  readonly npmRegistry: string | undefined
  readonly jsrUrl: string
  /**
   * Opens the egress socket through which the tool fetches. `allow` are the registries, as
   * `host:port`: the operator has configured them, so private addresses are allowed too. `note`
   * gets each request when it is over.
   */
  openEgress(
    path: string,
    options: { readonly allow: readonly string[]; note(request: OutgoingRequest): void },
  ): { stop(): void }
  readonly limits: ResolverLimits
  readonly onError: (error: unknown) => void
}

/** Code, and what the rules depend on. */
export interface ResolverRequest<Given> {
  readonly files: readonly SourceFile[]
  readonly given: Given
  /** Accounts take turns. */
  readonly accountId: string
  readonly signal: AbortSignal
}

/**
 * Resolves the imports of code. All tools that read the code or the packages run in a sandbox, and
 * none of the code is ever run:
 *
 *   resolve tool   Deno finds and fetches the imports, esbuild bundles them into one script
 *   compile tool   V8 creates its code cache of that script, in a sandbox that has read no package
 */
export class PackageResolver<Given> {
  readonly #options: ResolverOptions<Given>
  readonly #slots: FairSlots
  readonly #stopping = new AbortController()
  readonly #prepare: () => Promise<Tools>
  readonly #findRegistry: () => Promise<string>

  constructor(options: ResolverOptions<Given>) {
    this.#options = options
    const { sandboxes, npmRegistry, rules } = options
    this.#prepare = prepareOnce(() => createTools(sandboxes, rules.toolPath))
    this.#findRegistry = prepareOnce(async () => npmRegistry ?? (await findRegistry()))
    const { atOnceMax, waitingPerAccountMax: waitingPerKeyMax } = options.limits
    this.#slots = new FairSlots(
      atOnceMax,
      { waitingPerKeyMax },
      () => new Refused("overloaded", "Cannot start: too much work of this account waits"),
    )
  }

  /**
   * Errors in the code or the packages are errors of an import, not rejections. Rejects with
   * `AbortError` when `signal` is aborted, and with `overloaded` when too many requests of the account
   * wait.
   */
  async resolve({
    accountId,
    signal,
    ...source
  }: ResolverRequest<Given>): Promise<ResolvedPackages> {
    const either = AbortSignal.any([signal, this.#stopping.signal])
    return await this.#slots.run(accountId, () => this.#resolve(source, either), {
      signal: either,
    })
  }

  /** Ends all resolutions. They reject with an AbortError. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#slots.whenIdle()
  }

  async #resolve(source: Source<Given>, signal: AbortSignal): Promise<ResolvedPackages> {
    const { limits, onError, rules: program } = this.#options
    const rules = program.create(source.given)
    const guess = () => guessImports(source.files, rules, limits.importsMax)
    const deadlineMs = performance.now() + limits.resolveMsMax
    const tools = await this.#prepare()
    const requests: OutgoingRequest[] = []
    const outcome = await this.#runResolve(tools, source, requests, signal)
    if (outcome === "requests")
      return toFailed(guess(), {
        error: `all that the code imports takes more than ${limits.requestsMax} requests`,
        isTemporary: false,
      })
    const response = readResolveResponse(
      outcome.kind === "done" ? outcome.output : outcome.partial,
      limits.answerBytesMax + 2 * archiveLimits.listBytesMax,
      source.files.length,
    )
    if (outcome.kind === "failed" || !response?.imports) {
      const reason = outcome.kind === "failed" ? outcome.stderr : invalidOutput
      if (outcome.kind === "done" || outcome.reason === "exited")
        onError(new Error(`Cannot resolve imports: ${reason}`))
      return toFailed(
        response?.found ?? guess(),
        outcome.kind === "failed" ? toExplanation(outcome, limits) : crashed,
      )
    }
    const bundled =
      response.bundle &&
      (await this.#compile(tools, response.bundle, deadlineMs - performance.now(), signal))
    const explain = (failure: ImportFailure) => explainFailure(failure, requests, rules)
    return toResolved(response, response.imports, bundled, explain)
  }

  async #runResolve(
    tools: Tools,
    source: Source<Given>,
    requests: OutgoingRequest[],
    signal: AbortSignal,
  ): Promise<ToolOutcome | "requests"> {
    const { limits, jsrUrl } = this.#options
    const registry = await this.#findRegistry()
    const request: ResolveRequest<Given> = { ...source, npmRegistry: registry, jsrUrl, limits }
    const allow = [registry, jsrUrl].map(toHostAndPort)
    const excess = new AbortController()
    const note = (one: OutgoingRequest) => {
      if (requests.length < limits.requestsMax) requests.push(one)
      else excess.abort()
    }
    const job: ToolJob = {
      tool: tools.resolve,
      input: new TextEncoder().encode(toOwnJson(request)),
      limits: {
        ...limits,
        msMax: limits.resolveMsMax,
        outputBytesMax:
          limits.bundleBytesMax +
          limits.fileBytesTotalMax +
          limits.typeBytesTotalMax +
          2 * (limits.answerBytesMax + archiveLimits.listBytesMax),
      },
      openEgress: (path) => this.#options.openEgress(path, { allow, note }),
      signal: AbortSignal.any([signal, excess.signal]),
    }
    try {
      return await tools.host.runTool(job)
    } catch (error) {
      if (excess.signal.aborted && !signal.aborted) return "requests"
      throw error
    }
  }

  /** A bundle without a cache is only slower to load, so a failure here is not an error. */
  async #compile(
    tools: Tools,
    { code, files, types }: ResponseBundle,
    msLeft: number,
    signal: AbortSignal,
  ): Promise<Bundle | Explanation> {
    const { limits, onError } = this.#options
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
          `Cannot compile a bundle: ${outcome.kind === "done" ? invalidOutput : outcome.stderr}`,
        ),
      )
    const hash = await hashBundle(code, files, types)
    const isCacheSmall = code.length + (compiled?.cache.length ?? 0) <= storedBytesMax
    return {
      hash,
      code,
      cache: (isCacheSmall && compiled?.cache) || null,
      files: await toBundleFiles(files),
      types: await toBundleFiles(types),
    }
  }
}

async function toBundleFiles(archive: Uint8Array | null): Promise<BundleFiles | null> {
  const compressed = archive && (await compressArchive(archive))
  return compressed && { read: async () => compressed }
}

type Source<Given> = Pick<ResolverRequest<Given>, "files" | "given">

const invalidOutput = "the tool wrote invalid output"
const compileMsMin = 5_000
/** A row of a backup has a maximum size, so a large bundle is stored without its cache. */
const storedBytesMax = 60 * 1024 ** 2
/** V8's code cache can be larger than the code. */
const cacheShareMax = 4

function toHostAndPort(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`
}

const crashed: Explanation = {
  error: "it could not be resolved: it crashes the resolver",
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
      error: `resolving it takes more than ${memoryBytesMax} bytes of memory`,
      isTemporary: false,
    }
  if (reason === "files")
    return { error: `what it needs is larger than ${scratchBytesMax} bytes`, isTemporary: false }
  if (reason === "output" || reason === "cpu" || reason === "processes")
    return { error: "resolving it exceeds a limit", isTemporary: false }
  return crashed
}

/** For code that the tool could not parse: reports at least what looks like an import as failed. */
function guessImports(
  files: readonly SourceFile[],
  rules: ImportRules,
  importsMax: number,
): ResolverResponse["found"] {
  const texts = new Set(
    files.flatMap(({ code }) =>
      Array.from(code.matchAll(specifierPattern), ([, text = ""]) => text),
    ),
  )
  return [...texts, ...rules.targets]
    .filter(rules.isRemote)
    .slice(0, importsMax)
    .map((specifier) => ({ specifier, places: [] }))
}

const specifierPattern = /["'`]((?:npm|jsr|https?):[^"'`\s]+)["'`]/g

function toFailed(
  found: ResolverResponse["found"],
  { error, isTemporary }: Explanation,
): ResolvedPackages {
  const imports = found.map(
    ({ specifier, places }): ResolvedImport => ({
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

function toResolved(
  response: ResolverResponse,
  imports: NonNullable<ResolverResponse["imports"]>,
  bundled: Bundle | Explanation | null,
  explain: (failure: ImportFailure) => Explanation,
): ResolvedPackages {
  if (bundled && "error" in bundled) return toFailed(response.found, bundled)
  let isTemporary = false
  const locked = imports.map(
    ({ specifier, places, resolved, failure, entry, exports }): ResolvedImport => {
      const explained = failure && explain(failure)
      isTemporary ||= explained?.isTemporary ?? false
      return { specifier, places, resolved, error: explained?.error ?? null, entry, exports }
    },
  )
  const { leftOut = [] } = response.bundle ?? {}
  const left = leftOut.length > 0 ? { leftOut } : {}
  const resolved = { imports: locked, bundle: bundled, isTemporary, ...left }
  return response.bundle?.isAsync ? { ...resolved, isAsync: true } : resolved
}

/** The tools of the resolver, and where they run. */
interface Tools {
  readonly host: Sandboxes
  readonly resolve: Tool
  readonly compile: Tool
}

/** Bundles the tools, and writes them where sandboxes can read them. */
async function createTools(
  findHost: () => Promise<Sandboxes>,
  resolvePath: string,
): Promise<Tools> {
  const host = await findHost()
  const [resolve, compile] = await Promise.all([
    bundleProgram(resolvePath),
    bundleProgram(compilePath),
  ])
  return {
    host,
    resolve: {
      program: host.addProgram("resolve.js", resolve),
      helpers: { esbuild: findEsbuild() },
      permissions: ["--allow-read", "--allow-write", "--allow-env", "--allow-run", "--allow-sys"],
    },
    compile: { program: host.addProgram("compile.js", compile), helpers: {}, permissions: [] },
  }
}

const compilePath = fileURLToPath(new URL("./tool/compile-tool.ts", import.meta.url))

/** The path of the esbuild program for this machine, which has an npm package of its own. */
function findEsbuild(): string {
  const file = process.platform === "win32" ? "esbuild.exe" : "bin/esbuild"
  // The package of the program is a dependency of esbuild, not ours.
  const parent = dirname(Bun.resolveSync("esbuild/package.json", import.meta.dir))
  return join(
    dirname(Bun.resolveSync(`@esbuild/${process.platform}-${process.arch}/package.json`, parent)),
    file,
  )
}
