import { chars } from "@hamlet/contract"
import { z } from "zod"
import { splitResponse } from "./tool/tool-messages.ts"

const specifierCharsMax = 10_000
const nameCharsMax = 1_000
const messageCharsMax = 100_000

const place = z.object({ start: z.int().min(0), end: z.int().min(0) })
const common = { specifier: chars(specifierCharsMax), places: z.array(place) }
const foundAnswer = z.object({ found: z.array(z.object(common)) })
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
const resolveAnswer = z.object({ imports: z.array(resolvedImport), hasBundle: z.boolean() })
const compileAnswer = z.object({ error: z.string().nullable() })

/** What the tool has found out about the code, as far as it got. */
export interface ResolverResponse {
  readonly found: z.infer<typeof foundAnswer>["found"]
  /** Undefined when it did not get to the end. */
  readonly imports: readonly z.infer<typeof resolvedImport>[] | undefined
  readonly bundle: Uint8Array | null
}

/**
 * Nothing of it is believed: the tool has read what strangers wrote. Undefined when it makes no
 * sense, or too much of it.
 */
export function readResolveResponse(
  output: Uint8Array,
  headBytesMax: number,
): ResolverResponse | undefined {
  const first = splitResponse(output, headBytesMax)
  const found = foundAnswer.safeParse(first?.head).data?.found
  if (!first || !found) return undefined
  const second = splitResponse(first.body, headBytesMax)
  const answer = resolveAnswer.safeParse(second?.head).data
  if (!second || !answer) return { found, imports: undefined, bundle: null }
  return {
    found,
    imports: answer.imports,
    bundle: answer.hasBundle ? new Uint8Array(second.body) : null,
  }
}

/** The same for the tool that compiles. */
export function readCompileResponse(
  output: Uint8Array,
  headBytesMax: number,
): { readonly error: string | null; readonly cache: Uint8Array } | undefined {
  const answer = splitResponse(output, headBytesMax)
  const head = compileAnswer.safeParse(answer?.head).data
  return answer && head && { error: head.error, cache: new Uint8Array(answer.body) }
}
