import type { ValConfig } from "@hamlet/contract/deno-json"
import type { ImportHosts } from "../../../domain/modules/import-address.ts"
import type { ImportPlace, SourceFile } from "../../../domain/modules/lockfiles.ts"
import type { StandardModules } from "../../../domain/modules/standard-modules.ts"
import type { FileList } from "../../sandbox/packages/file-archive.ts"

const mebibyte = 1024 ** 2

/** The request of the resolve tool: JSON on its standard input. */
export interface ResolveRequest {
  readonly files: readonly SourceFile[]
  /** Of the version; null if it has none. */
  readonly config: ValConfig | null
  /** Imports from there are not remote. */
  readonly importHosts: ImportHosts
  /** The specifiers of vals on this server; undefined when every address of a val is one. */
  readonly local: readonly string[] | undefined
  readonly standardModules: StandardModules
  readonly npmRegistry: string
  readonly jsrUrl: string
  readonly limits: ToolResolveLimits
}

/** What code may import, and how large the result may be. */
export const importLimits = {
  /** Different specifiers of one val. */
  importsMax: 100,
  /** How often one specifier may occur. */
  placesMax: 100,
  /** npm packages, with the dependencies of packages. */
  packagesMax: 500,
  /** Modules in a bundle. */
  modulesMax: 20_000,
  bundleBytesMax: 40 * mebibyte,
  /** Names that one import exports. */
  exportsMax: 5_000,
  /** Files of packages, beside the bundle. */
  filesMax: 10_000,
  /** The size of all of them. */
  fileBytesTotalMax: 48 * mebibyte,
  /** The size of their paths. The list of links needs room as well. */
  filePathBytesMax: 1.75 * mebibyte,
  /** Declaration files, for editors. */
  typeFilesMax: 4_000,
  typeFileBytesMax: 2 * mebibyte,
  /** The size of all of them. */
  typeBytesTotalMax: 8 * mebibyte,
  /** The size of their paths. */
  typePathBytesMax: 0.5 * mebibyte,
  /** The metadata of the imports, without their code. It is stored with the version. */
  answerBytesMax: 2 * mebibyte,
}

export type ToolResolveLimits = Readonly<typeof importLimits>

/**
 * The first response: one line of JSON. If the tool fails later, each import can be reported as
 * failed.
 */
export interface FoundResponse {
  readonly found: readonly { readonly specifier: string; readonly places: readonly ImportPlace[] }[]
}

/**
 * The last response: one line of JSON, then the code of the bundle, if there is one, the
 * contents of the files and those of the types.
 */
export interface ResolveResponse {
  readonly imports: readonly ToolImport[]
  readonly bundle: ToolBundle | null
}

export interface ToolBundle {
  readonly codeBytes: number
  /** Whether evaluating it takes a promise. */
  readonly isAsync: boolean
  readonly files: FileList | null
  /** Declarations, for editors; see `collectTypes`. */
  readonly types: FileList | null
}

/** One import, resolved or failed. */
export interface ToolImport {
  readonly specifier: string
  readonly places: readonly ImportPlace[]
  readonly resolved: string | null
  readonly failure: ImportFailure | null
  /** Its index in the bundle; -1 when it is not in it. */
  readonly entry: number
  readonly exports: readonly string[]
}

/** Why an import failed. */
export interface ImportFailure {
  readonly message: string
  /** Who wrote the message. Only our own is shown to users as it is. */
  readonly from: "deno" | "esbuild" | "us"
  /** The module or package that failed, if it is not the import itself. */
  readonly about: string | null
}

/** The response of the compile tool: one line of JSON, then V8's code cache, if there is one. */
export interface CompileResponse {
  /** Why the code cannot be compiled. */
  readonly error: string | null
}

/** A line of JSON, then bytes. */
export function joinResponse(
  head: FoundResponse | ResolveResponse | CompileResponse,
  body: Uint8Array = new Uint8Array(),
): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body])
}

/** The reverse of `joinResponse`. Undefined without a valid line of JSON. */
export function splitResponse(
  response: Uint8Array,
  headBytesMax: number,
): { readonly head: unknown; readonly body: Uint8Array } | undefined {
  const at = response.subarray(0, headBytesMax).indexOf(lineEnd)
  if (at === -1) return undefined
  try {
    return {
      head: JSON.parse(new TextDecoder().decode(response.subarray(0, at))),
      body: response.subarray(at + 1),
    }
  } catch {
    return undefined
  }
}

const lineEnd = 10
