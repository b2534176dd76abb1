/**
 * All packages of a program in one script. The script is read only by a server that has not written
 * it to its disk yet.
 */
export interface StoredBundle {
  /** SHA-256 of its content, in hex. It is a file name. */
  readonly hash: string
  /** The files of packages that read their own files, or null. */
  readonly files: BundleFiles | null
  /** The size of the script and its code cache. */
  readonly bytes: number
  read(): Promise<BundleScript>
}

/** The script of a bundle. */
export interface BundleScript {
  /**
   * The body of a function `(module, exports, require)`. It sets `module.exports` to an array with
   * one function per entry, which returns the namespace of the imported module. Modules that are
   * only imported dynamically are evaluated on the first call, all others with the script.
   * `require` returns modules that are built into the runtime; `require.at(path)` describes the
   * location of a module in the folder of the files. If a package has a top-level await,
   * `module.exports` is a promise of that array, and so is each namespace.
   */
  readonly code: Uint8Array
  /**
   * V8's code cache, or null. It is valid for the pinned Deno, and for the exact text that the
   * guest compiles: both sides wrap the code with `packagesScript` of the guest's protocol.
   */
  readonly cache: Uint8Array | null
}

/** The files of packages, as a compressed archive that only the sandbox reads. */
export interface BundleFiles {
  /** Read when a process needs them, since they may be large. */
  read(): Promise<Uint8Array>
}

/** A bundle that is in memory, as if it were stored. */
export function toStoredBundle({
  hash,
  files,
  code,
  cache,
}: BundleScript & Pick<StoredBundle, "hash" | "files">): StoredBundle {
  const bytes = code.length + (cache?.length ?? 0)
  return { hash, bytes, files, read: async () => ({ code, cache }) }
}
