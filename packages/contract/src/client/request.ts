import { ownerHeader } from "../owner-header.ts"
import type { Method } from "../route.ts"
import type { Content } from "./input.ts"
import type { AnyCallOptions } from "./types.ts"

/** A request that can be sent repeatedly. */
export interface PreparedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Headers
  readonly body: Content | undefined
  readonly response: RouteFacts["response"]
  /** A retry is safe even if the first attempt reached the server. */
  readonly isRepeatable: boolean
}

/** What a client needs of a row of the route table. */
interface RouteFacts {
  readonly method: Method
  readonly path: string
  /** The fields of the query, where there is a body too. */
  readonly query: readonly string[]
  /**
   * Fields that are not in the path go into a JSON body; without a body, into the query. Bytes are
   * the caller's content, as it is.
   */
  readonly body: "json" | "bytes" | "none"
  /** Bytes are returned unread. */
  readonly response: "json" | "text" | "bytes" | "none"
}

/** The server, the token, and for whom the requests act. */
export interface Server {
  readonly baseUrl: string
  readonly token: string | undefined
  readonly owner: string | undefined
}

/** Puts each field of the input into the path, the query or the body. `row` is one of contract.ts. */
export function toRequest(
  server: Server,
  row: string,
  input: object,
  options: AnyCallOptions,
): PreparedRequest {
  const route = toRouteFacts(row)
  const fields = new Map(Object.entries(input).map(([name, value]) => [name, toWire(value)]))
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const segment = toSegment(name, fields.get(name))
    fields.delete(name)
    return segment
  })
  const query = route.body === "none" ? fields : takeFields(fields, route.query)
  const content = route.body === "bytes" ? (fields.get("content") as Content) : undefined
  // A Blob has its own type, and bytes have none. Not every platform sets one for strings.
  const contentType =
    fields.get("contentType") ??
    (typeof content === "string" ? "text/plain;charset=UTF-8" : undefined)
  return {
    method: route.method.toUpperCase(),
    url: server.baseUrl + path + toQuery(query),
    headers: toHeaders(server, route, options, contentType),
    body: route.body === "json" ? JSON.stringify(Object.fromEntries(fields)) : content,
    response: route.response,
    // A POST has an idempotency key, or stores the same bytes again. Other methods are idempotent,
    // but with a precondition a retry would conflict with what the first attempt did.
    isRepeatable: route.method === "post" || options.ifMatch === undefined,
  }
}

function toRouteFacts(row: string): RouteFacts {
  const [method, address = "", body, response] = row.split(" ")
  const [path, names] = address.split("?")
  return { method, path, query: names?.split("&") ?? [], body, response } as RouteFacts
}

/** Moves fields to a map of their own. */
function takeFields(fields: Map<string, unknown>, names: readonly string[]): Map<string, unknown> {
  const taken = new Map(names.map((name) => [name, fields.get(name)]))
  for (const name of names) fields.delete(name)
  return taken
}

/**
 * Dates are converted here: `JSON.stringify` turns an invalid one into `null`, and a token that
 * should expire never would.
 */
function toWire(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value
}

function toSegment(name: string, value: unknown): string {
  const segment = encodeURIComponent(String(value ?? ""))
  // Each of these would change the route of the URL.
  if (segment === "" || segment === "." || segment === "..")
    throw new TypeError(`Cannot put "${segment}" into a path: it is not a valid "${name}"`)
  return segment
}

function toQuery(fields: ReadonlyMap<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of fields) {
    if (value !== undefined && value !== null) query.set(name, String(value))
  }
  const text = query.toString()
  return text && `?${text}`
}

/**
 * Created before anything is sent, so that an invalid value is the caller's error and not a failed
 * connection.
 */
function toHeaders(
  server: Server,
  route: RouteFacts,
  options: AnyCallOptions,
  contentType: unknown,
): Headers {
  const headers = new Headers()
  if (route.response === "json" || route.response === "none")
    headers.set("accept", "application/json")
  if (route.body === "json") headers.set("content-type", "application/json")
  else if (route.body === "bytes" && contentType !== undefined)
    headers.set("content-type", String(contentType))
  if (server.token !== undefined) headers.set("authorization", `Bearer ${server.token}`)
  if (server.owner !== undefined) headers.set(ownerHeader, server.owner)
  if (route.method === "post" && route.body !== "bytes")
    headers.set("idempotency-key", options.idempotencyKey ?? createIdempotencyKey())
  if (options.respondAsync) headers.set("prefer", "respond-async")
  if (options.ifMatch !== undefined) headers.set("if-match", `"${options.ifMatch}"`)
  if (options.ifNoneMatch !== undefined) headers.set("if-none-match", options.ifNoneMatch)
  return headers
}

/**
 * A key that makes a POST repeatable. Not `crypto.randomUUID`, which browsers have on https only:
 * self-hosted servers often use plain http.
 */
export function createIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("")
}
