/** What the tool is asked: JSON on its standard input. */
export interface ResolveRequest {
  readonly code: string
  /** Where the modules of this server are: what is there is not remote. */
  readonly baseUrls: readonly string[]
  readonly npmRegistry: string
  readonly jsrUrl: string
  readonly limits: ToolResolveLimits
}

/** What code may import, and what may come of it. */
export interface ToolResolveLimits {
  /** Different specifiers of one val. */
  readonly importsMax: number
  /** How often it may say one of them. */
  readonly placesMax: number
  /** npm packages, those that packages need included. */
  readonly packagesMax: number
  /** Modules in a bundle. */
  readonly modulesMax: number
  readonly bundleBytesMax: number
  /** Names that one import exports. */
  readonly exportsMax: number
}

/**
 * What it answers first: one line of JSON, so that there is something to say of each import should
 * it not get any further.
 */
export interface FoundResponse {
  readonly found: readonly { readonly specifier: string; readonly places: readonly TextRange[] }[]
}

/** What it answers last: another line, and after it the code of the bundle, if there is one. */
export interface ResolveResponse {
  readonly imports: readonly ToolImport[]
  readonly hasBundle: boolean
}

/** One import, as far as it got. */
export interface ToolImport {
  readonly specifier: string
  readonly places: readonly TextRange[]
  readonly resolved: string | null
  readonly failure: ImportFailure | null
  /** Its number in the bundle; -1 when it is not there. */
  readonly entry: number
  readonly exports: readonly string[]
}

/** From the first character up to, but not with, the last, in UTF-16 units. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** Why an import came to nothing. */
export interface ImportFailure {
  /** In the words of Deno, of esbuild, or our own. */
  readonly message: string
  /** Whose words they are: only ours can be shown as they are. */
  readonly from: "deno" | "esbuild" | "us"
  /** What it is about, if it is not the import itself: a module or a package that it needs. */
  readonly about: string | null
}

/**
 * What the other tool answers: one line of JSON, and after it V8's cache of the code, if there is
 * one.
 */
export interface CompileResponse {
  /** Why the code cannot be compiled. */
  readonly error: string | null
}

/** A line of JSON with bytes after it. */
export function joinResponse(
  head: FoundResponse | ResolveResponse | CompileResponse,
  body: Uint8Array = new Uint8Array(),
): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), body])
}

/** The other way round; undefined when there is no such line. */
export function splitResponse(
  answer: Uint8Array,
  headBytesMax: number,
): { readonly head: unknown; readonly body: Uint8Array } | undefined {
  const at = answer.subarray(0, headBytesMax).indexOf(lineEnd)
  if (at === -1) return undefined
  try {
    return {
      head: JSON.parse(new TextDecoder().decode(answer.subarray(0, at))),
      body: answer.subarray(at + 1),
    }
  } catch {
    return undefined
  }
}

const lineEnd = 10
