import { mayHaveJsx } from "@hamlet/contract/compiler-settings"
import { isConfigPath } from "@hamlet/contract/deno-json"
import { findPathProblem } from "@hamlet/contract/file-paths"
import { createMask, noMask, toOwnJson } from "@hamlet/kit"
import type { Bundle } from "@hamlet/npm"
import type { Program, ProgramContent } from "@hamlet/sandbox"
import { toStoredBundle } from "@hamlet/sandbox"
import type { RunTokens } from "../accounts/run-tokens.ts"
import { AppError } from "../app-error.ts"
import { type EndpointLinks, toEndpoint } from "../files/addresses.ts"
import { isSelected, type OfUser, type Outdated } from "../runs/retirement.ts"
import type { SecretOpener } from "../secrets/open-secrets.ts"
import type { Val } from "../vals/vals.ts"
import type { ResolvedImport } from "./graph/import-store.ts"
import {
  createModuleGraph,
  type GraphModule,
  type GraphParts,
  type LockedGraphModule,
  type Walk,
} from "./graph/module-graph.ts"
import { isModulePath } from "./graph/version-files.ts"
import { mayImport } from "./import-address.ts"
import type { LockfileStore, LockfileSummary, Resolution } from "./lockfiles.ts"
import {
  addPackages,
  type CodeWithPackages,
  type PackageSource,
  type SavedModule,
  waitForPackages,
} from "./program-packages.ts"
import { linkRequire } from "./require-module.ts"
import { listStandardModules, type StandardModules } from "./standard-modules.ts"

/** What programs are made of. */
export interface ProgramParts extends GraphParts, PackageSource {
  readonly files: GraphParts["files"]
  readonly lockfiles: LockfileStore
  readonly secrets: SecretOpener
  readonly runTokens: Pick<RunTokens, "issue" | "end">
  /** The standard library as JavaScript. */
  readonly standardScripts: () => Promise<StandardModules>
  readonly links: EndpointLinks & {
    readonly baseUrl: string
    module(username: string, name: string): string
  }
  onError(error: unknown): void
}

/** Creates programs from vals. */
export type Programs = ReturnType<typeof createPrograms>

/** Options of a program. */
export interface ProgramOptions {
  /** For clients without a token: no secrets, although it runs on its owner's account. */
  readonly isAnonymous?: boolean
}

/** The packages of unsaved code. */
export interface UnsavedPackages {
  readonly resolution: Resolution
  readonly bundle: Bundle | null
}

const limits = {
  /** Modules besides the entry. Further ones are left out, and importing them fails. */
  modulesMax: 200,
  /** The total code size of these modules. */
  codeCharsMax: 5_000_000,
  /** Modules that are read concurrently. */
  loadedAtOnceMax: 20,
  /** Versions whose imports are cached, at about 1 kB each. */
  cachedMax: 20_000,
}

/** Creates the Programs of a server. */
export function createPrograms(parts: ProgramParts) {
  const graph = createModuleGraph(parts, limits)
  // A val without imports has one program as long as it is the same object. Stores return the same
  // object as long as the val has not changed.
  const owners = new WeakMap<Val, Promise<Program>>()
  const create = async (val: Val, account: Account) => {
    let leaf = graph.findLeaf(val)
    if (leaf === undefined) {
      if (mayImport(val.code) || mayHaveJsx(val.code))
        return toProgram(parts, val, account, await graph.walk(val))
      graph.noteLeaf(val)
      leaf = graph.findLeaf(val)
    }
    const program = toProgram(parts, val, account, leaf ?? (await graph.walk(val)))
    if (account.hasSecrets) owners.set(val, Promise.resolve(program))
    return program
  }
  return {
    /**
     * The current program of the val's version on that account. Called for every request. If the val
     * imports other vals, their current versions are looked up, since any node may change them.
     */
    of(val: Val, accountId: string, { isAnonymous = false }: ProgramOptions = {}) {
      const hasSecrets = accountId === val.ownerId && !isAnonymous
      const known = hasSecrets ? owners.get(val) : undefined
      return known ?? create(val, { id: accountId, hasSecrets, isAnonymous })
    },
    /** The program of unsaved code on its owner's account. `val` describes it as if it were saved. */
    async ofUnsaved(
      val: Val,
      imports: readonly ResolvedImport[],
      packages: UnsavedPackages | null,
    ) {
      const walk = await graph.walk(val, imports)
      const lock = packages && {
        state: "ready" as const,
        bundle: packages.resolution.bundle,
        updatedAt: 0,
      }
      const account = { id: val.ownerId, hasSecrets: true, isAnonymous: false, isUnsaved: true }
      return toProgram(packages ? withPackages(parts, val, packages) : parts, val, account, {
        ...walk,
        entry: { ...walk.entry, lock },
      })
    },
  }
}

/** Adds the packages of the unsaved code, which are not in the database. */
function withPackages(
  parts: ProgramParts,
  val: Val,
  { resolution, bundle }: UnsavedPackages,
): ProgramParts {
  const lock = {
    state: "ready" as const,
    bundle: resolution.bundle,
    updatedAt: 0,
    resolution,
    retryAt: null,
  }
  return {
    ...parts,
    lockfiles: {
      ...parts.lockfiles,
      find: async (valId, version) =>
        valId === val.id ? lock : parts.lockfiles.find(valId, version),
    },
    bundles: {
      ...parts.bundles,
      find: async (hash) =>
        bundle?.hash === hash ? toStoredBundle(bundle) : parts.bundles.find(hash),
    },
  }
}

/** The account that a program runs on. */
interface Account {
  readonly id: string
  /** Whether the program gets the account's secrets and a token: only runs of the val's owner do. */
  readonly hasSecrets: boolean
  readonly isAnonymous: boolean
  /** The code is not saved, so it has no storage of its own. */
  readonly isUnsaved?: boolean
}

function toProgram(parts: ProgramParts, val: Val, account: Account, walk: Walk): Program {
  const modules = [walk.entry, ...walk.modules]
  const label = `${val.ownerName}/${val.name}`
  // Only the owner's runs get the secrets, so only their key depends on them.
  const environment = account.hasSecrets ? val.ownerSecretsVersion : "none"
  const selectable = {
    ownerId: val.ownerId,
    accountId: account.id,
    valId: val.id,
    version: val.version,
    isMadeOf: (branchId: string, paths: readonly string[]) => isMadeOf(walk, branchId, paths),
  }
  const program: Program = {
    key: `${val.type} ${label} ${account.id} ${environment} ${toFingerprint(walk)}`,
    group: val.id,
    // A process without the secrets never replaces one that runs for the owner.
    line: `${val.file.id}${account.isAnonymous ? " anonymous" : ""}`,
    version: val.version,
    isHttp: val.type === "http",
    accountId: account.id,
    label,
    entryUrl: walk.entry.url,
    endpoint: toEndpoint(parts.links, val),
    readFile: (path) => readFile(parts, walk, path),
    isMeant: (selection: Outdated | OfUser) => isSelected(selectable, selection),
    load: () => loadProgram(parts, val, account, walk),
  }
  if (!modules.some(({ lock }) => isPending(lock))) return program
  return { ...program, whenFetched: () => waitForPackages(parts, modules) }
}

function isPending(lock: LockfileSummary | null): boolean {
  return lock?.state === "pending"
}

/** A process that serves several versions reads none of their files: its key names no version. */
async function readFile(
  { files }: ProgramParts,
  walk: Walk,
  path: string | null,
): Promise<string | null> {
  if (!readsFiles(walk)) return null
  const { branchId, version } = walk.entry
  if (path === null) return toOwnJson(await files.list(branchId, version))
  if (findPathProblem(path) !== undefined) return null
  return (await files.find(branchId, version, path))?.content ?? null
}

/** A program that can read files can read all of its own branch. */
function isMadeOf(walk: Walk, branchId: string, paths: readonly string[]): boolean {
  if (readsFiles(walk) && walk.entry.branchId === branchId) return true
  const isConfigured = paths.some(isConfigPath)
  const isNew = paths.some(isModulePath)
  return [walk.entry, ...walk.modules].some(
    (module) =>
      module.branchId === branchId &&
      (isConfigured || (isNew && module.text.importsComputed) || paths.includes(module.path)),
  )
}

function readsFiles({ entry, modules }: Walk): boolean {
  return entry.text.readsFiles || modules.some(({ text }) => text.readsFiles)
}

/**
 * What a program is made of: the states of the files that it reaches, and their packages. Another
 * version with the same ones has the same program, unless it can read the other files too. A
 * cryptographic hash: with collisions, an attacker could get a process with other imports.
 */
function toFingerprint(walk: Walk): string {
  const { entry, modules, redirects } = walk
  const own = `${toState(entry)}${readsFiles(walk) ? ` of ${entry.version}` : ""}`
  if (modules.length === 0 && entry.lock === null) return own
  const hasher = new Bun.CryptoHasher("sha256")
  for (const module of [entry, ...modules])
    hasher.update(`${toState(module)} ${toText(module.lock)}\n`)
  // The URLs of redirects follow from the texts.
  for (const module of redirects.values()) hasher.update(`${toState(module)}\n`)
  return `${own} ${hasher.digest("base64url")}`
}

function toState({ branchId, path, text, config }: GraphModule): string {
  return `${branchId}/${path}@${text.since}${config ? ` ${config.key}` : ""}`
}

/**
 * The packages of a lockfile that is ready are those of its bundle. While it is pending, those that
 * the program imports are there before it starts, and stay the same.
 */
function toText(lock: LockfileSummary | null): string {
  if (lock === null) return ""
  if (lock.state === "pending") return `pending ${lock.updatedAt}`
  return `${lock.state} ${lock.bundle} ${lock.state === "ready" ? "" : lock.updatedAt}`
}

async function loadProgram(
  parts: ProgramParts,
  val: Val,
  { hasSecrets, isUnsaved }: Account,
  walk: Walk,
): Promise<ProgramContent> {
  const given = {
    HAMLET_URL: parts.links.baseUrl,
    HAMLET_VAL: `${val.ownerName}/${val.name}`,
    VALTOWN_ENTRYPOINT: walk.entry.url,
  }
  if (!hasSecrets) {
    const code = await loadCode(parts, val, walk)
    const env = { ...given, VAL_TOWN_BASE_URL: parts.links.baseUrl }
    return { ...code, env, substitutions: [], mask: noMask, end: () => {} }
  }
  const [code, { values, substitutions }] = await Promise.all([
    loadCode(parts, val, walk),
    parts.secrets.open(val).catch((error: unknown) => {
      // The log names the missing key also for a queued run, which waits without an error.
      if (error instanceof AppError && error.code === "secret_key_missing") parts.onError(error)
      throw error
    }),
  ])
  // Issued after everything that can fail, since otherwise it would never be revoked.
  const owner = { id: val.ownerId, username: val.ownerName }
  const token = parts.runTokens.issue(owner, isUnsaved ? undefined : val.id)
  const visible = new Map([...values, ["HAMLET_TOKEN", token]])
  const mask = await createMask(
    new Map([...visible, ...substitutions.map(({ name, value }) => [name, value] as const)]),
  )
  return {
    ...code,
    env: withValTown(parts.links.baseUrl, token, {
      ...Object.fromEntries(substitutions.map(({ name, placeholder }) => [name, placeholder])),
      ...Object.fromEntries(visible),
      ...given,
    }),
    substitutions,
    mask,
    end: () => parts.runTokens.end(token),
  }
}

/**
 * Adds the variables that Val Town's clients and modules read. An owner with a key of their own
 * means Val Town itself: the key must not be sent to this server.
 */
function withValTown(
  baseUrl: string,
  token: string,
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const own = { VAL_TOWN_API_KEY: token, VAL_TOWN_BASE_URL: baseUrl }
  return { ...("VAL_TOWN_API_KEY" in env ? {} : own), ...env, valtown: token }
}

/** The val's module with all imported files, vals, packages and standard modules. */
async function loadCode(
  parts: ProgramParts,
  val: Val,
  { entry, modules, redirects }: Walk,
): Promise<CodeWithPackages> {
  const own = { ...entry, code: val.code }
  const code = await addPackages(parts, [own, ...(await loadModules(parts, modules))])
  const linked = linkRequire(code.modules, parts.links.baseUrl)
  const moved = Array.from(redirects, ([url, { url: location }]) => ({ url, code: "", location }))
  return { ...code, modules: [...(await addStandard(parts, linked)), ...moved] }
}

async function addStandard(
  { sources, standardScripts }: ProgramParts,
  modules: ProgramContent["modules"],
): Promise<ProgramContent["modules"]> {
  if (!modules.some(({ code }) => code.includes("std/"))) return modules
  return [...modules, ...listStandardModules(modules, sources.importHosts, await standardScripts())]
}

/** Reads the code of the modules, nearest first, up to the limit. Deleted versions are skipped. */
async function loadModules(
  parts: ProgramParts,
  modules: readonly LockedGraphModule[],
): Promise<readonly SavedModule[]> {
  const loaded: SavedModule[] = []
  let chars = 0
  for (let from = 0; from < modules.length; from += limits.loadedAtOnceMax) {
    const batch = modules.slice(from, from + limits.loadedAtOnceMax)
    const files = await Promise.all(
      batch.map(({ branchId, version, path }) => parts.files.find(branchId, version, path)),
    )
    for (const [index, module] of batch.entries()) {
      const code = files[index]?.content
      if (code === undefined) continue
      chars += code.length
      if (chars > limits.codeCharsMax) return loaded
      loaded.push({ ...module, code })
    }
  }
  return loaded
}
