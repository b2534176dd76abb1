import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { listTargets } from "@hamlet/contract/import-map"
import { FairSlots, prepareOnce, toOwnJson } from "@hamlet/kit"
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
import { AppError } from "../../domain/app-error.ts"
import type { ImportHosts } from "../../domain/modules/import-address.ts"
import type {
  Bundle,
  DependencyResolver,
  LockedImport,
  ResolvedCode,
} from "../../domain/modules/lockfiles.ts"
import { isRemoteImport } from "../../domain/modules/remote-imports.ts"
import type { StandardModules } from "../../domain/modules/standard-modules.ts"
import { type Explanation, explainFailure } from "./explain-failure.ts"
import { findRegistry } from "./find-registry.ts"
import { hashBundle } from "./hash-bundle.ts"
import {
  type ResolverResponse,
  type ResponseBundle,
  readCompileResponse,
  readResolveResponse,
} from "./read-response.ts"
import type { ResolverLimits } from "./resolver-limits.ts"
import type { ResolveRequest } from "./tool/tool-messages.ts"

/** How imports are resolved. */
export interface ResolverOptions {
  readonly sandboxes: () => Promise<Sandboxes>
  /** Imports from these hosts are not remote. */
  readonly importHosts: ImportHosts
  /** Modules of other servers import them as well. */
  readonly standardModules: StandardModules
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

/**
 * Resolves the imports of code. All tools that read the code or the packages run in a sandbox, and
 * none of the code is ever run:
 *
 *   resolve tool   Deno finds and fetches the imports, esbuild bundles them into one script
 *   compile tool   V8 creates its code cache of that script, in a sandbox that has read no package
 */
export class SandboxedResolver implements DependencyResolver {
  readonly #options: ResolverOptions
  readonly #slots: FairSlots
  readonly #stopping = new AbortController()
  readonly #prepare: () => Promise<Tools>
  readonly #findRegistry: () => Promise<string>

  constructor(options: ResolverOptions) {
    this.#options = options
    const { sandboxes, npmRegistry } = options
    this.#prepare = prepareOnce(() => createTools(sandboxes))
    this.#findRegistry = prepareOnce(async () => npmRegistry ?? (await findRegistry()))
    const { atOnceMax, waitingPerOwnerMax: waitingPerKeyMax } = options.limits
    this.#slots = new FairSlots(
      atOnceMax,
      { waitingPerKeyMax },
      () => new AppError("overloaded", "Cannot start: too much work of this account waits"),
    )
  }

  async resolve({
    files,
    config,
    ownerId,
    local,
    signal,
  }: Parameters<DependencyResolver["resolve"]>[0]): Promise<ResolvedCode> {
    const either = AbortSignal.any([signal, this.#stopping.signal])
    const source = { files, config: config ?? null, local }
    return await this.#slots.run(ownerId, () => this.#resolve(source, either), { signal: either })
  }

  /** Ends all resolutions. They reject with an AbortError. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#slots.whenIdle()
  }

  async #resolve(source: Source, signal: AbortSignal): Promise<ResolvedCode> {
    const { limits, onError } = this.#options
    const deadlineMs = performance.now() + limits.resolveMsMax
    const tools = await this.#prepare()
    const requests: OutgoingRequest[] = []
    const outcome = await this.#runResolve(tools, source, requests, signal)
    if (outcome === "requests")
      return toFailed(guessImports(source, this.#options), {
        error: `all that the val imports takes more than ${limits.requestsMax} requests`,
        isTemporary: false,
      })
    const response = readResolveResponse(
      outcome.kind === "done" ? outcome.output : outcome.partial,
      limits.answerBytesMax + 2 * archiveLimits.listBytesMax,
    )
    if (outcome.kind === "failed" || !response?.imports) {
      const reason = outcome.kind === "failed" ? outcome.stderr : invalidOutput
      if (outcome.kind === "done" || outcome.reason === "exited")
        onError(new Error(`Cannot resolve imports: ${reason}`))
      return toFailed(
        response?.found ?? guessImports(source, this.#options),
        outcome.kind === "failed" ? toExplanation(outcome, limits) : crashed,
      )
    }
    const bundled =
      response.bundle &&
      (await this.#compile(tools, response.bundle, deadlineMs - performance.now(), signal))
    return toResolvedCode(response, response.imports, bundled, requests)
  }

  async #runResolve(
    tools: Tools,
    source: Source,
    requests: OutgoingRequest[],
    signal: AbortSignal,
  ): Promise<ToolOutcome | "requests"> {
    const { limits, jsrUrl, importHosts, standardModules } = this.#options
    const registry = await this.#findRegistry()
    const request: ResolveRequest = {
      ...source,
      importHosts,
      standardModules,
      npmRegistry: registry,
      jsrUrl,
      limits,
    }
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
          archiveLimits.listBytesMax +
          2 * limits.answerBytesMax +
          archiveLimits.listBytesMax,
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

/** Code, what its specifiers mean, and which of them mean vals on this server. */
type Source = Pick<ResolveRequest, "files" | "config" | "local">

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
  { files, config, local }: Source,
  { importHosts, limits }: ResolverOptions,
): ResolverResponse["found"] {
  const texts = new Set(
    files.flatMap(({ code }) =>
      Array.from(code.matchAll(specifierPattern), ([, text = ""]) => text),
    ),
  )
  const specifiers = [...texts, ...(config ? listTargets(config.map) : [])]
    .filter((text) => isRemoteImport(text, importHosts, local && new Set(local)))
    .slice(0, limits.importsMax)
  return specifiers.map((specifier) => ({ specifier, places: [] }))
}

const specifierPattern = /["'`]((?:npm|jsr|https?):[^"'`\s]+)["'`]/g

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
  response: ResolverResponse,
  imports: NonNullable<ResolverResponse["imports"]>,
  bundled: Bundle | Explanation | null,
  requests: readonly OutgoingRequest[],
): ResolvedCode {
  if (bundled && "error" in bundled) return toFailed(response.found, bundled)
  let isTemporary = false
  const locked = imports.map(
    ({ specifier, places, resolved, failure, entry, exports }): LockedImport => {
      const explained = failure && explainFailure(failure, requests)
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
async function createTools(findHost: () => Promise<Sandboxes>): Promise<Tools> {
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

const resolvePath = fileURLToPath(new URL("./tool/resolve-tool.ts", import.meta.url))
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
