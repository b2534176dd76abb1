import type { z } from "zod"
import type { compileResponse, foundResponse, resolveResponse } from "../read-response.ts"
import type { SourceFile } from "../resolved-packages.ts"

const mebibyte = 1024 ** 2

/** The request of the resolve tool: JSON on its standard input. */
export interface ResolveRequest<Given> {
  readonly files: readonly SourceFile[]
  /** What the rules of the caller depend on. */
  readonly given: Given
  readonly npmRegistry: string
  readonly jsrUrl: string
  readonly limits: ToolResolveLimits
}

/** What code may import, and how large the result may be. */
export const importLimits = {
  /** Different specifiers in all files. */
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
  /** Packages without their files that are named. */
  leftOutMax: 20,
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

type Immutable<T> = T extends object ? { readonly [Name in keyof T]: Immutable<T[Name]> } : T
type SentAs<Schema extends z.ZodType> = Immutable<z.infer<Schema>>

type FoundResponse = SentAs<typeof foundResponse>
export type ResolveResponse = SentAs<typeof resolveResponse>
export type ToolImport = ResolveResponse["imports"][number]
export type ImportFailure = NonNullable<ToolImport["failure"]>
type CompileResponse = SentAs<typeof compileResponse>

/** A line of JSON, then bytes. */
export function joinResponse(
  head: FoundResponse | ResolveResponse | CompileResponse,
  body: Uint8Array = new Uint8Array(),
): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body])
}
