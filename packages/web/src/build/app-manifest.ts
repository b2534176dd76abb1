/** The name of the file that tells what is in the folder of a built app. */
export const manifestName = "manifest.json"

/** A file of the built app. Its name has a hash of its content, so it may be cached forever. */
export interface BuiltFile {
  readonly contentType: string
  /** The compressed forms that lie beside it: `name.br`, `name.gz`. */
  readonly encodings: readonly ("br" | "gzip")[]
}

/** What is in the folder of a built app. */
export interface AppManifest {
  /** The files that the page names; the others are loaded by them. */
  readonly entries: {
    readonly main: string
    readonly style: string
    readonly theme: string
    readonly typeWorker: string
    readonly typeLibs: string
  }
  readonly files: Readonly<Record<string, BuiltFile>>
}
