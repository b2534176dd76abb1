import type { BundleFiles, BundleScript } from "@hamlet/sandbox"

/** A file of code. */
export interface SourceFile {
  readonly path: string
  readonly code: string
}

/** The packages that files import, resolved to exact versions. */
export interface ResolvedPackages {
  readonly imports: readonly ResolvedImport[]
  /** Null when nothing could be resolved. */
  readonly bundle: Bundle | null
  /** Whether evaluating the bundle takes a promise: a package has a top-level await. */
  readonly isAsync?: boolean
  /** Whether a retry may help: a registry did not respond, or the machine was too busy. */
  readonly isTemporary: boolean
  /**
   * The packages that could read their own files if these were not too large to be stored, as
   * `name@version`.
   */
  readonly leftOut?: readonly string[]
}

/** An import from `npm:`, `jsr:` or another server. */
export interface ResolvedImport {
  readonly specifier: string
  /** With its exact version, or the URL that it was redirected to; null when it has an error. */
  readonly resolved: string | null
  /** Why it could not be resolved, as a sentence. */
  readonly error: string | null
  /**
   * The literals in the code, with their quotes. They are replaced by the URL of a stub module, so
   * they include import attributes such as `with { type: "json" }`. A range that does not begin with
   * a quote is the source in a `@jsxImportSource` comment; the specifier is that source followed by
   * `/jsx-runtime`. An empty range is an import that the file does not name.
   */
  readonly places: readonly ImportPlace[]
  /** Its index in the bundle; -1 when it is not in it. */
  readonly entry: number
  /** The names of its exports, including `default`. */
  readonly exports: readonly string[]
}

/** Where a file has a specifier: from `start` to before `end`, in UTF-16 units. */
export interface ImportPlace {
  /** The index of the file. */
  readonly file: number
  readonly start: number
  readonly end: number
}

/** All packages in one script, addressed by content. */
export interface Bundle extends BundleScript {
  /** SHA-256 of `code`, or of its hash and that of the files, in hex. It is a file name. */
  readonly hash: string
  /** The files of packages that read their own files, or null. */
  readonly files: BundleFiles | null
  /** The declarations of the packages, for editors; null when there are none. */
  readonly types: BundleFiles | null
}

/** The declarations of npm packages, with the links by which TypeScript finds packages. */
export interface PackageTypes {
  readonly files: readonly { readonly path: string; readonly text: string }[]
  /** Links to folders. A target is relative to the folder of the link. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
}
