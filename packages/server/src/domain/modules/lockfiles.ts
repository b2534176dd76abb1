import type { ValConfig } from "@hamlet/contract/deno-json"
import type {
  Bundle,
  ImportPlace as FilePlace,
  ResolvedImport,
  ResolvedPackages,
  SourceFile,
} from "@hamlet/npm"
import type { StoredBundle } from "@hamlet/sandbox"
import type { Claim, ClaimQueue } from "../claims.ts"
import { toTextKey } from "./imports/config-keys.ts"

/** The packages that a version imports, resolved to exact versions. */
export interface Resolution {
  readonly imports: readonly LockedImport[]
  /** The hash of the bundle with all packages; null when nothing could be resolved. */
  readonly bundle: string | null
  /** Whether evaluating the bundle takes a promise: a package has a top-level await. */
  readonly isAsync?: true
  /**
   * The packages that could read their own files if these were not too large to be stored, as
   * `name@version`.
   */
  readonly leftOut?: readonly string[]
  /**
   * The paths of the files that import packages, and the hashes of their texts. Absent in lockfiles
   * that no later version can take over.
   */
  readonly files?: readonly (readonly [path: string, text: string])[]
  /** Whether other files of the version may import packages too: those of the first files are there. */
  readonly isPartial?: true
}

/** An import of packages, and where the texts of the version have it. */
export interface LockedImport extends Omit<ResolvedImport, "places"> {
  readonly places: readonly ImportPlace[]
}

/** Where a text has a specifier. */
export interface ImportPlace extends Omit<FilePlace, "file"> {
  /**
   * The hash of the text: a file keeps its packages when it moves, and loses them when it changes.
   * Absent in lockfiles of when a val had one file.
   */
  readonly text?: string
}

/**
 * The state of the resolution of a version.
 *
 *   pending ──▶ ready            final: a version runs the same code forever
 *      │  ▲
 *      ▼  │ when the owner retries
 *     failed                     some imports have an error, the others work
 */
export type LockfileState = "pending" | "ready" | "failed"

/** Identifies the packages of a version: equal summaries mean the same code. */
export interface LockfileSummary {
  readonly state: LockfileState
  /** While pending, that of what is resolved already. */
  readonly bundle: string | null
  /** When the state last changed. */
  readonly updatedAt: number
}

/** The lockfile of a version. */
export interface Lockfile extends LockfileSummary {
  /** The result; while pending, the result of the last attempt, if any. */
  readonly resolution: Resolution | null
  /** When a pending lockfile is retried; null while it is being resolved and when it is settled. */
  readonly retryAt: number | null
}

/** A lockfile that one node resolves. */
export interface LockfileClaim extends Claim {
  readonly branchId: string
  readonly version: number
}

/** Claims pending lockfiles. */
export interface LockfileClaims extends ClaimQueue<LockfileClaim> {
  /**
   * Stores the result. Returns false when the claim is lost or the version was deleted, or if the
   * bundle of another version, which comes without its content, is not there any more.
   */
  settle(claim: LockfileClaim, resolved: SettledLockfile, at: number): Promise<boolean>
  /** Stores what is resolved already. The claim goes on. */
  note(claim: LockfileClaim, resolved: Omit<SettledLockfile, "state">, at: number): Promise<void>
  /** Stores the result of an attempt that is repeated after the delay. */
  postpone(
    claim: LockfileClaim,
    delayMs: number,
    resolved: Omit<SettledLockfile, "state">,
    at: number,
  ): Promise<void>
}

/**
 * Stores lockfiles. The lockfile of a new version is created with the version, by the val store.
 */
export interface LockfileStore {
  /** Called for every program. Null when the version has no lockfile. */
  findSummary(branchId: string, version: number): Promise<LockfileSummary | null>
  find(branchId: string, version: number): Promise<Lockfile | null>
  /** Creates the lockfile of an existing version that has none. */
  add(valId: string, version: number, at: number): Promise<void>
  /**
   * Makes a failed lockfile pending again, and one that waits for its next attempt due at once,
   * without the last result: runs wait for the new one.
   */
  reopen(valId: string, version: number, at: number): Promise<void>
}

/** Resolves pending lockfiles in the background. */
export interface LockfileWork {
  /** Call when there is a new pending lockfile. */
  wake(): void
}

/** The final result of a resolution. */
export interface SettledLockfile {
  readonly state: "ready" | "failed"
  readonly resolution: Resolution
  readonly bundle: Bundle | null
}

/** Stores bundles. A bundle is written together with the first lockfile that names it. */
export interface BundleStore {
  find(hash: string): Promise<StoredBundle | undefined>
  /** Its types, as a compressed archive; undefined when it has none. */
  findTypes(hash: string): Promise<Uint8Array | undefined>
  /**
   * Checks the next `countMax` bundles after that hash, and deletes those that no lockfile names.
   * Returns the hash to continue from; undefined at the end.
   */
  purge(after: string, createdBefore: number, countMax: number): Promise<string | undefined>
}

/** Fetches the packages that code imports, without running any of them. */
export interface DependencyResolver {
  /**
   * Errors in the code or the packages are errors of an import, not rejections. Rejects with
   * `AbortError` when `signal` is aborted, and with `overloaded` when too many requests of the owner
   * wait. `local` are the specifiers of vals on this server; if it
   * is undefined, every address of a val means one on this server.
   */
  resolve(request: {
    readonly files: readonly SourceFile[]
    /** The settings of the version that the files are of. */
    readonly config?: ValConfig | undefined
    /** Owners take turns. */
    readonly ownerId: string
    readonly local?: readonly string[] | undefined
    readonly signal: AbortSignal
  }): Promise<ResolvedCode>
}

/** The result of resolving the imports of code. */
export interface ResolvedCode extends Omit<ResolvedPackages, "imports"> {
  readonly imports: readonly LockedImport[]
}

/**
 * What a resolution of all files has given, after one of some of them: if nothing was fetched because
 * one import took too long, the others are as they were resolved before.
 */
export function addResolved(whole: ResolvedCode, part: ResolvedCode): ResolvedCode {
  if (whole.bundle !== null || part.bundle === null) return whole
  const known = new Map(part.imports.map((one) => [one.specifier, one]))
  const imports = whole.imports.map((one): LockedImport => {
    const found = known.get(one.specifier)
    if (found === undefined || found.error !== null) return one
    return { ...found, places: one.places.length > 0 ? one.places : found.places }
  })
  const names = new Set(imports.map(({ specifier }) => specifier))
  const others = part.imports.filter(({ specifier }) => !names.has(specifier))
  return { ...part, imports: [...imports, ...others], isTemporary: whole.isTemporary }
}

/** The part of the result that is stored with the version. */
export function toResolution(
  { imports, bundle, isAsync, leftOut = [] }: ResolvedCode,
  files: readonly SourceFile[],
  config: ValConfig | undefined,
): Resolution {
  const importing = new Set(imports.flatMap(({ places }) => places.map(({ text }) => text)))
  return {
    imports,
    bundle: bundle?.hash ?? null,
    ...(isAsync ? { isAsync: true as const } : {}),
    ...(leftOut.length > 0 ? { leftOut } : {}),
    files: files
      .map(({ path, code }) => [path, toTextKey(code, path, config)] as const)
      .filter(([, text]) => importing.has(text)),
  }
}
