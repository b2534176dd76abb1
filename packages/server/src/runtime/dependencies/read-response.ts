import { chars } from "@hamlet/contract"
import { z } from "zod"
import { splitResponse } from "./tool/tool-messages.ts"

const specifierCharsMax = 10_000
const nameCharsMax = 1_000
const messageCharsMax = 100_000

const range = z.object({ start: z.int().min(0), end: z.int().min(0) })
const common = { specifier: chars(specifierCharsMax), places: z.array(range) }
const foundResponse = z.object({ found: z.array(z.object(common)) })
const resolvedImport = z.object({
  ...common,
  resolved: chars(specifierCharsMax).nullable(),
  failure: z
    .object({
      message: chars(messageCharsMax),
      from: z.enum(["deno", "esbuild", "us"]),
      about: chars(specifierCharsMax).nullable(),
    })
    .nullable(),
  entry: z.int(),
  exports: z.array(chars(nameCharsMax)),
})
const resolveResponse = z.object({ imports: z.array(resolvedImport), hasBundle: z.boolean() })
const compileResponse = z.object({ error: z.string().nullable() })

/** The response of the resolve tool. */
export interface ResolverResponse {
  readonly found: z.infer<typeof foundResponse>["found"]
  /** Undefined when the tool did not finish. */
  readonly imports: readonly z.infer<typeof resolvedImport>[] | undefined
  readonly bundle: Uint8Array | null
}

/**
 * Validates what the resolve tool wrote: the tool has read untrusted code. Undefined when it is
 * invalid or too large.
 */
export function readResolveResponse(
  output: Uint8Array,
  headBytesMax: number,
): ResolverResponse | undefined {
  const first = splitResponse(output, headBytesMax)
  const found = foundResponse.safeParse(first?.head).data?.found
  if (!first || !found) return undefined
  const second = splitResponse(first.body, headBytesMax)
  const resolved = resolveResponse.safeParse(second?.head).data
  if (!second || !resolved) return { found, imports: undefined, bundle: null }
  return {
    found,
    imports: resolved.imports,
    bundle: resolved.hasBundle ? new Uint8Array(second.body) : null,
  }
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
