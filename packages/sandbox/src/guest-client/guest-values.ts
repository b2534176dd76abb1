import { type Mask, truncateError, truncateText } from "@hamlet/kit"
import { programLimits } from "../processes/program-limits.ts"
import type { Returned, RunError } from "../program/runner.ts"

/** A returned value, and how many log lines of the run the guest had sent before it. */
export interface ReturnedText extends Pick<Returned, "json" | "kept" | "isTruncated"> {
  readonly logCount: number
}

export interface FailureText {
  readonly error: RunError
  readonly logCount: number
}

/**
 * Reads and masks the value that a call returned. The program's process wrote it, so it may contain
 * anything: undefined if it is invalid.
 */
export function readReturnedText(bytes: Uint8Array, mask: Mask): ReturnedText | undefined {
  const message = parseObject(bytes)
  if (!message || !("value" in message) || typeof message.isTruncated !== "boolean")
    return undefined
  const value = maskStrings(message.value, mask)
  const json = JSON.stringify(value)
  const kept = keep(value, json, programLimits.valueBytesMax)
  return { json, kept, isTruncated: message.isTruncated, logCount: toCount(message.logCount) }
}

/** Reads, masks and truncates the failure of a run. */
export function readFailureText(bytes: Uint8Array, mask: Mask): FailureText | undefined {
  const message = parseObject(bytes)
  const error = message && toRunError(message.error)
  return (
    error && {
      error: truncateError(error, programLimits.valueBytesMax, mask),
      logCount: toCount(message.logCount),
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

/** Masks strings only: a secret of digits would match within numbers and break the JSON. */
function maskStrings(value: unknown, mask: Mask): unknown {
  if (typeof value === "string") return mask.hide(value)
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, mask))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [mask.hide(key), maskStrings(item, mask)]),
  )
}

/** Truncates a value whose JSON exists already. */
function keep(value: unknown, json: string, bytesMax: number): unknown {
  if (typeof value === "string") return truncateText(value, bytesMax)
  return Buffer.byteLength(json) <= bytesMax ? value : truncateText(json, bytesMax)
}
