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
  /** Where the code says it: the literals with their quotes, from `start` up to, but not with, `end`, in UTF-16 units. */
  readonly places: readonly { readonly start: number; readonly end: number }[]
  /** Its number in the bundle. */
  readonly entry: number
  /** The names that it exports, `default` among them if there is one. */
  readonly exports: readonly string[]
}

/** How far the resolution of a version has come. */
export interface Lock {
  readonly state: "pending" | "ready" | "failed"
  /** There unless it is pending. A failed one has at least one import with an error; the others can be run. */
  readonly resolution: Resolution | null
  readonly updatedAt: number
}

/** All that a version imports from elsewhere in one script, content-addressed: the same for all versions that import the same. */
export interface Bundle {
  /** SHA-256 of `code`, in hex. */
  readonly hash: string
  /**
   * The body of a function `(module, exports, require)`, which sets `module.exports` to an array with one element for each entry: a function
   * without parameters that gives the namespace of what is imported, and evaluates it when it is called first.
   */
  readonly code: Uint8Array
  /** What V8 makes of the code, so that it need not be compiled again; null where there is none. It counts for the pinned Deno only. */
  readonly cache: Uint8Array | null
}

/** Fetches what code imports from elsewhere, without running any of it. */
export interface DependencyResolver {
  /**
   * Never throws for what the code or the packages are: that is an error of an import. `isTemporary` when trying again later may help: a
   * registry did not answer, the machine was too busy. Throws `AbortError` when `signal` is aborted.
   */
  resolve(request: { readonly code: string; readonly signal: AbortSignal }): Promise<ResolvedCode>
}

/** What came of it. */
export interface ResolvedCode {
  readonly imports: readonly LockedImport[]
  readonly bundle: Bundle | null
  readonly isTemporary: boolean
}
