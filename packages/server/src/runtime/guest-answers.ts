import { z } from "zod"
import { brokenAnswer, type CallOutcome, type Stopped, type ValAnswer } from "../domain/execution.ts"
import type { ValProcess } from "./val-process.ts"

/** What the guest said, and how many log lines of the run it had sent by then. */
export interface Answered<Outcome> {
  readonly outcome: Outcome
  readonly logCount: number
}

const failureBytesMax = 1024 ** 2
const envelopeBytesMax = 1024

const count = z.number().int().min(0).catch(0)
const errorText = z.object({ name: z.string(), message: z.string(), stack: z.string().optional() })
const failure = z.object({ error: errorText, logCount: count })
const returned = z.object({ value: z.unknown(), isCut: z.boolean(), logCount: count })

const unreadable: Stopped = {
  kind: "stopped",
  status: "failed",
  error: { name: brokenAnswer, message: "The val gave an answer that cannot be read" },
}

/** The failure that an answer carries. It comes from the val's own process, so that it may be anything. */
export async function readFailure(answer: ValAnswer, process: ValProcess): Promise<Answered<Stopped>> {
  const parsed = failure.safeParse(await readJson(answer, failureBytesMax, process))
  if (!parsed.success) return { outcome: unreadable, logCount: 0 }
  const { name, message, stack } = parsed.data.error
  const error = { name, message, ...(stack === undefined ? {} : { stack }) }
  return { outcome: { kind: "stopped", status: "failed", error }, logCount: parsed.data.logCount }
}

/** What a call returned. */
export async function readReturned(answer: ValAnswer, process: ValProcess): Promise<Answered<CallOutcome>> {
  const parsed = returned.safeParse(await readJson(answer, process.limits.returnBytesMax + envelopeBytesMax, process))
  if (!parsed.success) return { outcome: unreadable, logCount: 0 }
  const { value, isCut, logCount } = parsed.data
  return { outcome: { kind: "returned", value: value ?? null, isCut }, logCount }
}

/** Undefined for what is no JSON, or too much of it. */
async function readJson({ body }: ValAnswer, bytesMax: number, process: ValProcess): Promise<unknown> {
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const part of body instanceof Uint8Array ? [body] : (body ?? [])) {
      bytes += part.length
      if (bytes > bytesMax) return undefined
      parts.push(part)
    }
    return maskStrings(JSON.parse(Buffer.concat(parts).toString()), process)
  } catch {
    return undefined
  }
}

/** Not the text as a whole: a secret of digits would be found in numbers, and what is put in its place is none. */
function maskStrings(value: unknown, process: ValProcess): unknown {
  if (typeof value === "string") return process.mask(value)
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, process))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [process.mask(key), maskStrings(item, process)]))
}
