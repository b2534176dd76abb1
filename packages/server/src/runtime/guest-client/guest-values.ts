import { limits } from "@hamlet/contract"
import type { Returned } from "../../domain/runs/runner.ts"
import type { RunError } from "../../domain/runs/runs.ts"
import { truncateError, truncateText } from "../../domain/runs/truncate.ts"
import type { Mask } from "../../domain/secrets/secret-mask.ts"

/** What the guest said, and how many log lines of the run it had sent by then. */
export interface ReturnedText extends Pick<Returned, "json" | "kept" | "isTruncated"> {
  readonly logCount: number
}

export interface FailureText {
  readonly error: RunError
  readonly logCount: number
}

/**
 * What a call returned, masked. It comes from the val's own process, so that it may be anything:
 * undefined for what no guest says.
 */
export function readReturnedText(bytes: Uint8Array, mask: Mask): ReturnedText | undefined {
  const said = parseObject(bytes)
  if (!said || !("value" in said) || typeof said.isTruncated !== "boolean") return undefined
  const value = maskStrings(said.value, mask)
  const json = JSON.stringify(value)
  const kept = keep(value, json, limits.runValueBytesMax)
  return { json, kept, isTruncated: said.isTruncated, logCount: toCount(said.logCount) }
}

/** The failure that an answer carries, masked and cut. */
export function readFailureText(bytes: Uint8Array, mask: Mask): FailureText | undefined {
  const said = parseObject(bytes)
  const error = said && toRunError(said.error)
  return (
    error && {
      error: truncateError(error, limits.runValueBytesMax, mask),
      logCount: toCount(said.logCount),
    }
  )
}

type Fields = Readonly<Record<string, unknown>>

function parseObject(bytes: Uint8Array): Fields | undefined {
  const value: unknown = JSON.parse(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(),
  )
  return typeof value === "object" && value !== null ? (value as Fields) : undefined
}

function toCount(count: unknown): number {
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : 0
}

function toRunError(value: unknown): RunError | undefined {
  if (typeof value !== "object" || value === null) return undefined
  const { name, message, stack } = value as Fields
  if (typeof name !== "string" || typeof message !== "string") return undefined
  if (stack === undefined) return { name, message }
  return typeof stack === "string" ? { name, message, stack } : undefined
}

/**
 * Not the text as a whole: a secret of digits would be found in numbers, and what is put in its
 * place is none.
 */
function maskStrings(value: unknown, mask: Mask): unknown {
  if (typeof value === "string") return mask.hide(value)
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, mask))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [mask.hide(key), maskStrings(item, mask)]),
  )
}

/** The same as `cutValue`, where the JSON is there already. */
function keep(value: unknown, json: string, bytesMax: number): unknown {
  if (typeof value === "string") return truncateText(value, bytesMax)
  return Buffer.byteLength(json) <= bytesMax ? value : truncateText(json, bytesMax)
}
