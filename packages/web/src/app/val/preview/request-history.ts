import { isCredentialHeader } from "@hamlet/contract/credential-headers"
import { readStored, writeStored } from "../../data/stored.ts"

/** A request as the user typed it. */
export interface TypedRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** One `name: value` per line. */
  readonly headers: string
  readonly body: string
}

const limits = { requestsMax: 20, requestCharsMax: 20_000 }
const prefix = "hamlet.requests."

/** The requests that were sent to a val from this browser, the latest first. */
export function readHistory(valId: string): readonly TypedRequest[] {
  try {
    const stored: unknown = JSON.parse(readStored(prefix + valId) ?? "[]")
    return Array.isArray(stored) ? stored.filter(isTypedRequest) : []
  } catch {
    return []
  }
}

/** Stores a request as the latest one of a val. Returns the history. */
export function rememberRequest(valId: string, request: TypedRequest): readonly TypedRequest[] {
  const history = addToHistory(readHistory(valId), request)
  writeStored(prefix + valId, JSON.stringify(history))
  return history
}

/** Removes the history of a val: it was deleted. */
export function forgetHistory(valId: string): void {
  writeStored(prefix + valId, null)
}

/** Puts a request on top. Equal ones are listed once; credentials and very long ones not at all. */
export function addToHistory(
  history: readonly TypedRequest[],
  request: TypedRequest,
): readonly TypedRequest[] {
  const kept = { ...request, headers: withoutCredentials(request.headers) }
  const text = toText(kept)
  if (text.length > limits.requestCharsMax) return history
  return [kept, ...history.filter((other) => toText(other) !== text)].slice(0, limits.requestsMax)
}

function withoutCredentials(headers: string): string {
  return headers
    .split("\n")
    .filter((line) => !isCredentialHeader((line.split(":")[0] ?? "").trim()))
    .join("\n")
}

function toText({ method, path, headers, body }: TypedRequest): string {
  return JSON.stringify([method, path, headers, body])
}

function isTypedRequest(value: unknown): value is TypedRequest {
  const { method, path, headers, body } = (value ?? {}) as Partial<Record<string, unknown>>
  return [method, path, headers, body].every((part) => typeof part === "string")
}
