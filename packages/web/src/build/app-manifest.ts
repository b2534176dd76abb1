/** The file that lists the content of a built app. */
export const manifestName = "manifest.json"

/** A file of the built app. Its name contains a hash, so it may be cached forever. */
export interface BuiltFile {
  readonly contentType: string
  /** The compressed files beside it: `name.br`, `name.gz`. */
  readonly encodings: readonly ("br" | "gzip")[]
}

/** The content of a built app. */
export interface AppManifest {
  /** The files that the HTML references; they load the others. */
  readonly entries: {
    readonly main: string
    readonly style: string
    readonly theme: string
    readonly typeWorker: string
    readonly typeLibs: string
    readonly nodeTypes: string
    readonly domTypes: string
    /** The fonts of nearly every page. */
    readonly fonts: readonly string[]
  }
  readonly files: Readonly<Record<string, BuiltFile>>
}
