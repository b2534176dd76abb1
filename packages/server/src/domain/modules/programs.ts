import type { RunTokens } from "../accounts/run-tokens.ts"
import { AppError } from "../app-error.ts"
import type { Program, ProgramContent } from "../runs/runner.ts"
import type { SecretOpener } from "../secrets/open-secrets.ts"
import { createMask, noMask } from "../secrets/secret-mask.ts"
import type { Val } from "../vals/vals.ts"
import { mayImport } from "./import-address.ts"
import {
  type Bundle,
  type LockfileStore,
  type LockfileSummary,
  type Resolution,
  toStoredBundle,
} from "./lockfiles.ts"
import {
  createModuleGraph,
  type GraphParts,
  type LockedGraphModule,
  type ResolvedImport,
  type Walk,
} from "./module-graph.ts"
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
  readonly lockfiles: LockfileStore
  readonly secrets: SecretOpener
  readonly runTokens: Pick<RunTokens, "issue" | "end">
  /** The standard library as JavaScript. */
  readonly standardScripts: () => Promise<StandardModules>
  readonly links: {
    readonly baseUrl: string
    module(username: string, name: string): string
    endpoint(val: Pick<Val, "id" | "ownerName" | "name">): string
  }
  onError(error: unknown): void
}

/** Creates programs from vals. */
export interface Programs {
  /**
   * The current program of the val's version on that account. Called for every request. If the val
   * imports other vals, their current versions are looked up, since any node may change them.
   */
  of(val: Val, accountId: string, options?: ProgramOptions): Promise<Program>
  /** The program of unsaved code on its owner's account. `val` describes it as if it were saved. */
  ofUnsaved(
    val: Val,
    imports: readonly ResolvedImport[],
    packages: UnsavedPackages | null,
  ): Promise<Program>
}

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
  /** Versions whose imports are cached, at about 100 bytes each. */
  cachedMax: 20_000,
}

/** Creates the Programs of a server. */
export function createPrograms(parts: ProgramParts): Programs {
  const graph = createModuleGraph(parts, limits)
  // A val without imports has one program as long as it is the same object. Stores return the same
  // object as long as the val has not changed.
  const owners = new WeakMap<Val, Promise<Program>>()
  const walk = async (val: Val, account: Account) =>
    toProgram(parts, val, account, await graph.walk(toEntry(parts, val)))
  const create = async (val: Val, account: Account) => {
    const lock = graph.findLeaf(val.id, val.version)
    if (lock === undefined) {
      if (mayImport(val.code)) return walk(val, account)
      graph.noteLeaf(val.id, val.version)
    }
    const program = toProgram(parts, val, account, { lock: lock ?? null, modules: [] })
    if (account.hasSecrets) owners.set(val, Promise.resolve(program))
    return program
  }
  return {
    of(val, accountId, { isAnonymous = false } = {}) {
      const hasSecrets = accountId === val.ownerId && !isAnonymous
      const known = hasSecrets ? owners.get(val) : undefined
      return known ?? create(val, { id: accountId, hasSecrets, isAnonymous })
    },
    async ofUnsaved(val, imports, packages) {
      const { modules } = await graph.walk(toEntry(parts, val), imports)
      const lock = packages && {
        state: "ready" as const,
        bundle: packages.resolution.bundle,
        updatedAt: 0,
      }
      const account = { id: val.ownerId, hasSecrets: true, isAnonymous: false }
      return toProgram(packages ? withPackages(parts, val, packages) : parts, val, account, {
        lock,
        modules,
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

function toEntryUrl(parts: ProgramParts, val: Val): string {
  return `${parts.links.module(val.ownerName, val.name)}@${val.version}`
}

function toEntry(parts: ProgramParts, val: Val) {
  const { id: valId, ownerId, version, versionCreatedAt: savedAt } = val
  return { url: toEntryUrl(parts, val), valId, ownerId, version, savedAt, asOf: null }
}

/** The account that a program runs on. */
interface Account {
  readonly id: string
  /** Whether the program gets the account's secrets and a token: only runs of the val's owner do. */
  readonly hasSecrets: boolean
  readonly isAnonymous: boolean
}

function toProgram(parts: ProgramParts, val: Val, account: Account, walk: Walk): Program {
  const { lock, modules } = walk
  const label = `${val.ownerName}/${val.name}`
  // Only the owner's runs get the secrets, so only their key depends on them.
  const environment = account.hasSecrets ? val.ownerSecretsVersion : "none"
  const program: Program = {
    key: `${val.id}@${val.version} ${val.type} ${label} ${account.id} ${environment} ${toFingerprint(walk)}`,
    valId: val.id,
    version: val.version,
    type: val.type,
    ownerId: val.ownerId,
    accountId: account.id,
    isAnonymous: account.isAnonymous,
    label,
    entryUrl: toEntryUrl(parts, val),
    endpoint: parts.links.endpoint(val),
    load: () => loadProgram(parts, val, account, walk),
  }
  if (!isPending(lock) && !modules.some((module) => isPending(module.lock))) return program
  return {
    ...program,
    whenFetched: () =>
      waitForPackages(parts, [{ valId: val.id, version: val.version, lock }, ...modules]),
  }
}

function isPending(lock: LockfileSummary | null): boolean {
  return lock?.state === "pending"
}

/**
 * A cryptographic hash: with collisions, an attacker could get a process with other imports.
 */
function toFingerprint({ lock, modules }: Walk): string {
  if (modules.length === 0 && lock === null) return "alone"
  const hasher = new Bun.CryptoHasher("sha256")
  hasher.update(`${toText(lock)}\n`)
  for (const module of modules)
    hasher.update(`${module.url} ${module.valId}@${module.version} ${toText(module.lock)}\n`)
  return hasher.digest("base64url")
}

function toText(lock: LockfileSummary | null): string {
  return lock ? `${lock.state} ${lock.bundle} ${lock.updatedAt}` : ""
}

async function loadProgram(
  parts: ProgramParts,
  val: Val,
  { hasSecrets }: Account,
  walk: Walk,
): Promise<ProgramContent> {
  const given = {
    HAMLET_URL: parts.links.baseUrl,
    HAMLET_VAL: `${val.ownerName}/${val.name}`,
    VALTOWN_ENTRYPOINT: toEntryUrl(parts, val),
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
  const token = parts.runTokens.issue({ id: val.ownerId, username: val.ownerName })
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

/** The val's module with all imported vals, packages and standard modules. */
async function loadCode(
  parts: ProgramParts,
  val: Val,
  { lock, modules }: Walk,
): Promise<CodeWithPackages> {
  const own = {
    url: toEntryUrl(parts, val),
    code: val.code,
    valId: val.id,
    version: val.version,
    lock,
  }
  const code = await addPackages(parts, [own, ...(await loadModules(parts, modules))])
  const linked = linkRequire(code.modules, parts.links.baseUrl)
  return { ...code, modules: await addStandard(parts, linked) }
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
    const vals = await Promise.all(
      batch.map(({ valId, version }) => parts.versions.find(valId, version)),
    )
    for (const [index, { url, valId, version, lock }] of batch.entries()) {
      const code = vals[index]?.code
      if (code === undefined) continue
      chars += code.length
      if (chars > limits.codeCharsMax) return loaded
      loaded.push({ url, code, valId, version, lock })
    }
  }
  return loaded
}
