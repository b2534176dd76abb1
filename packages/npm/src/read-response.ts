import { parseJson } from "@hamlet/kit"
import { packFiles } from "@hamlet/sandbox"
import { z } from "zod"

const specifierCharsMax = 10_000
const nameCharsMax = 1_000
const messageCharsMax = 100_000

const place = z.object({
  file: z.int().min(0),
  start: z.int().min(0),
  end: z.int().min(0),
})
const common = { specifier: z.string().max(specifierCharsMax), places: z.array(place) }

/**
 * The first response of the resolve tool: one line of JSON. If the tool fails later, each import can
 * be reported as failed.
 */
export const foundResponse = z.object({ found: z.array(z.object(common)) })

/** One import, resolved or failed. */
const resolvedImport = z.object({
  ...common,
  resolved: z.string().max(specifierCharsMax).nullable(),
  failure: z
    .object({
      message: z.string().max(messageCharsMax),
      // Who wrote the message. Only our own is shown to users as it is.
      from: z.enum(["deno", "esbuild", "us"]),
      // The module or package that failed, if it is not the import itself.
      about: z.string().max(specifierCharsMax).nullable(),
    })
    .nullable(),
  // Its index in the bundle; -1 when it is not in it.
  entry: z.int(),
  exports: z.array(z.string().max(nameCharsMax)),
})
const fileList = z.object({
  files: z.array(z.tuple([z.string().max(specifierCharsMax), z.int().min(0)])),
  links: z.array(z.tuple([z.string().max(specifierCharsMax), z.string().max(specifierCharsMax)])),
})

/**
 * Its last response: one line of JSON, then the code of the bundle, if there is one, the contents of
 * the files and those of the types.
 */
export const resolveResponse = z.object({
  imports: z.array(resolvedImport),
  bundle: z
    .object({
      codeBytes: z.int().min(0),
      // Whether evaluating it takes a promise.
      isAsync: z.boolean(),
      files: fileList.nullable(),
      // The packages whose files are not among them, as `name@version`.
      leftOut: z.array(z.string().max(nameCharsMax)),
      // Declarations, for editors; see `collectTypes`.
      types: fileList.nullable(),
    })
    .nullable(),
})

/** The response of the compile tool: why the code cannot be compiled, then V8's code cache. */
export const compileResponse = z.object({ error: z.string().nullable() })

/** The response of the resolve tool. */
export interface ResolverResponse {
  readonly found: z.infer<typeof foundResponse>["found"]
  /** Undefined when the tool did not finish. */
  readonly imports: readonly z.infer<typeof resolvedImport>[] | undefined
  readonly bundle: ResponseBundle | null
}

/** The bundle in that response. */
export interface ResponseBundle {
  readonly code: Uint8Array
  readonly isAsync: boolean
  /** The packages whose files are left out. */
  readonly leftOut: readonly string[]
  /** An archive; see `FileArchive`. */
  readonly files: Uint8Array | null
  /** An archive too. */
  readonly types: Uint8Array | null
}

/**
 * Validates what the resolve tool wrote: the tool has read untrusted code. Undefined when it is
 * invalid or too large.
 */
export function readResolveResponse(
  output: Uint8Array,
  headBytesMax: number,
  fileCount: number,
): ResolverResponse | undefined {
  const areInFiles = (imports: ResolverResponse["found"]) =>
    imports.every(({ places }) => places.every(({ file }) => file < fileCount))
  const first = splitResponse(output, headBytesMax)
  const found = foundResponse.safeParse(first?.head).data?.found
  if (!first || !found || !areInFiles(found)) return undefined
  const second = splitResponse(first.body, headBytesMax)
  const resolved = resolveResponse.safeParse(second?.head).data
  if (!second || !resolved || !areInFiles(resolved.imports))
    return { found, imports: undefined, bundle: null }
  const bundle = resolved.bundle && readBundle(resolved.bundle, second.body)
  if (bundle === undefined) return { found, imports: undefined, bundle: null }
  return { found, imports: resolved.imports, bundle }
}

/** Undefined when the sizes or the paths are invalid. */
function readBundle(
  {
    codeBytes,
    isAsync,
    files,
    leftOut,
    types,
  }: NonNullable<z.infer<typeof resolveResponse>["bundle"]>,
  body: Uint8Array,
): ResponseBundle | undefined {
  const typesAt = codeBytes + (files ? sumBytes(files) : 0)
  if (body.length !== typesAt + (types ? sumBytes(types) : 0)) return undefined
  const fileArchive = files && packFiles(files, body.subarray(codeBytes, typesAt))
  const typeArchive = types && packFiles(types, body.subarray(typesAt))
  if (fileArchive === undefined || typeArchive === undefined) return undefined
  const code = new Uint8Array(body.subarray(0, codeBytes))
  return { code, isAsync, files: fileArchive, leftOut, types: typeArchive }
}

function sumBytes({ files }: z.infer<typeof fileList>): number {
  return files.reduce((sum, [, bytes]) => sum + bytes, 0)
}

/** Validates what the compile tool wrote. */
export function readCompileResponse(
  output: Uint8Array,
  headBytesMax: number,
): { readonly error: string | null; readonly cache: Uint8Array } | undefined {
  const response = splitResponse(output, headBytesMax)
  const head = compileResponse.safeParse(response?.head).data
  return response && head && { error: head.error, cache: new Uint8Array(response.body) }
}

/** The reverse of `joinResponse`. Undefined without a valid line of JSON. */
function splitResponse(
  response: Uint8Array,
  headBytesMax: number,
): { readonly head: unknown; readonly body: Uint8Array } | undefined {
  const at = response.subarray(0, headBytesMax).indexOf(lineEnd)
  if (at === -1) return undefined
  try {
    const head = parseJson(new TextDecoder().decode(response.subarray(0, at)), headBytesMax)
    return { head, body: response.subarray(at + 1) }
  } catch {
    return undefined
  }
}

const lineEnd = 10
