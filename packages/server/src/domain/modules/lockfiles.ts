/** What a version imports from elsewhere, resolved once and for all. */
export interface Resolution {
  readonly imports: readonly LockedImport[]
  /** The hash of the bundle that holds all of it; null when nothing could be resolved. */
  readonly bundle: string | null
}

/** A specifier of `npm:`, `jsr:` or another server, as it is written in the code. */
export interface LockedImport {
  readonly specifier: string
  /** With its exact version, or the address that it was redirected to; null when there is none. */
  readonly resolved: string | null
  /** Why there is none, in a sentence. */
  readonly error: string | null
  /**
   * Where the code says it: the literals with their quotes, from `start` up to, but not with,
   * `end`, in UTF-16 units. Code of another module takes their place, so with them goes what only
   * counts for the module that was there (`with { type: "json" }`). A place that does not begin
   * with a quote is the address in a `@jsxImportSource`, of which the specifier is that address and
   * `/jsx-runtime`.
   */
  readonly places: readonly { readonly start: number; readonly end: number }[]
  /** Its number in the bundle; -1 when it is not in it. */
  readonly entry: number
  /** The names that it exports, `default` among them if there is one. */
  readonly exports: readonly string[]
}

/**
 * How far the resolution of a version has come.
 *
 *   pending ──▶ ready            for good: a version runs the same code forever
 *      │  ▲
 *      ▼  │ when somebody asks for it again
 *     failed                     some imports have an error, the others can be run
 */
export type LockfileState = "pending" | "ready" | "failed"

/**
 * What tells apart the programs that a version can be: two that are equal stand for the same code.
 */
export interface LockfileSummary {
  readonly state: LockfileState
  readonly bundle: string | null
  /** When it got into its state. */
  readonly updatedAt: number
}

/** What a version imports from elsewhere. */
export interface Lockfile extends LockfileSummary {
  /** What came of it; of a pending one, what came of the last attempt, if there was any. */
  readonly resolution: Resolution | null
  /**
   * When a pending one is tried again; null while it is being worked on, and when there is nothing
   * left to do.
   */
  readonly retryAt: number | null
}

/** A lock that one node works on, until another may take it over. */
export interface LockfileClaim {
  readonly valId: string
  readonly version: number
  readonly ownerId: string
  /** This one included. */
  readonly attempts: number
  readonly claimedUntil: number
}

/**
 * Where lockfiles are kept. The lock of a new version is made together with it, by the store of vals.
 */
export interface LockfileStore {
  /** Asked for every program. Null when the version has no lock. */
  findSummary(valId: string, version: number): Promise<LockfileSummary | null>
  find(valId: string, version: number): Promise<Lockfile | null>
  /** Makes one for a version that is there and has none. */
  add(valId: string, version: number, at: number): Promise<void>
  /** Makes a failed one pending again. */
  reopen(valId: string, version: number, at: number): Promise<void>
  /**
   * Takes the lock that has been due for longest, of nobody who is busy; undefined when there is
   * none, or others were faster.
   */
  claim(options: {
    readonly at: number
    readonly until: number
    readonly busyOwners: readonly string[]
  }): Promise<LockfileClaim | undefined>
  /** Keeps what came of it. False when the claim is no longer good, or the version is gone. */
  settle(claim: LockfileClaim, resolved: SettledLockfile, at: number): Promise<boolean>
  /**
   * Gives it back, to be tried again at that moment. An attempt that was broken off does not count.
   */
  postpone(
    claim: LockfileClaim,
    dueAt: number,
    attempt: { readonly resolution: Resolution | null; readonly counts: boolean },
  ): Promise<void>
}

/** The end of a resolution. */
export interface SettledLockfile {
  readonly state: "ready" | "failed"
  readonly resolution: Resolution
  readonly bundle: Bundle | null
}

/** Where bundles are kept. One is written together with the first lock that names it. */
export interface BundleStore {
  find(hash: string): Promise<Bundle | undefined>
  /**
   * Of the next so many bundles after that hash, deletes those that no lock names. Gives where to
   * go on; undefined at the end.
   */
  purge(after: string, createdBefore: number, countMax: number): Promise<string | undefined>
}

/**
 * All that a version imports from elsewhere in one script, content-addressed: the same for all
 * versions that import the same.
 */
export interface Bundle {
  /** SHA-256 of `code`, in hex: it becomes the name of a file. */
  readonly hash: string
  /**
   * The body of a function `(module, exports, require)`, which sets `module.exports` to an array
   * with one element for each entry: a function without parameters that gives the namespace of what
   * is imported. What is only imported by `import(…)` is evaluated when that function is called
   * first, all else with the script. `require` gives what is built into the runtime.
   */
  readonly code: Uint8Array
  /**
   * What V8 makes of the code, so that it need not be compiled again; null where there is none. It
   * counts for the pinned Deno, and for the very text that the guest compiles, with the code in the
   * middle: both sides take it from `packagesScript` of the guest's protocol.
   */
  readonly cache: Uint8Array | null
}

/** Fetches what code imports from elsewhere, without running any of it. */
export interface DependencyResolver {
  /**
   * Never throws for what the code or the packages are: that is an error of an import.
   * `isTemporary` when trying again later may help: a registry did not answer, the machine was too
   * busy. Throws `AbortError` when `signal` is aborted.
   */
  resolve(request: { readonly code: string; readonly signal: AbortSignal }): Promise<ResolvedCode>
}

/** What came of it. */
export interface ResolvedCode {
  readonly imports: readonly LockedImport[]
  readonly bundle: Bundle | null
  readonly isTemporary: boolean
}
