import { z } from "zod"
import type { ErrorCode } from "./errors.ts"
import type { Scope } from "./schemas/fields.ts"
import { pathParams } from "./schemas/inputs.ts"

/** The methods that routes use; HEAD works wherever GET does. */
export type Method = "get" | "post" | "put" | "delete"

/**
 * One row of the route table. The server's routing and validation, the OpenAPI document, the typed
 * client and the authorization matrix of the tests all derive from it, so that none of them can
 * miss a route.
 */
export interface RouteDefinition {
  readonly method: Method
  /** In OpenAPI form: `/v1/vals/{val_id}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  /** `required`: 401 without a token. `optional`: a token shows more. */
  readonly auth: "required" | "optional" | "none"
  /** The scope that a token needs, if one is sent. */
  readonly scope?: Scope
  /**
   * The scope that it also needs if the request changes something, which is known only once it
   * runs.
   */
  readonly scopeToWrite?: Scope
  /** The operator may allow calls without a token, though one is `required` otherwise. */
  readonly mayBeAnonymous?: true
  /**
   * The route signs a browser in: only a page of this server may send it, and each attempt counts
   * as a request without a token.
   */
  readonly isSignIn?: boolean
  /** The route needs no token, and every call counts as a request without one. */
  readonly isCountedByAddress?: boolean
  /** The route concerns the person, so a token that acts for an organisation is refused. */
  readonly isPersonal?: true
  /** What the caller needs of the val in the path: to see it, or to own it. */
  readonly valAccess?: "see" | "own"
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType<object>
  /**
   * With a `text/*` or JavaScript content type, the body is the code itself, unless it is a JSON
   * object with a string `code`.
   */
  readonly isCodeBody?: boolean
  /** The body is bytes: it is not parsed, and may be larger than other bodies. */
  readonly isBytesBody?: boolean
  /** The body contains a mail with its attachments, and may be larger than other bodies. */
  readonly isMailBody?: boolean
  /** The body contains many files, and may be larger than other bodies. */
  readonly isFilesBody?: boolean
  /** The last parameter takes the rest of the path, with encoded or plain slashes. */
  readonly isRestPath?: boolean
  /** Supports `If-Match` with a version number. */
  readonly hasIfMatch?: boolean
  /** Supports `ETag` and `If-None-Match`. */
  readonly hasEtag?: boolean
  /** Supports `Range` with one range of bytes. */
  readonly hasRange?: boolean
  /** Supports `Prefer: respond-async`: 202 at once, with the `Location` of the result. */
  readonly hasAsync?: boolean
  /** Supports `Accept: text/event-stream`: a stream of events, which `Last-Event-ID` resumes. */
  readonly hasEvents?: boolean
  /**
   * By status: the schema of a JSON response, the content types of a text response, `bytes` for any
   * content, or `null` for none.
   */
  readonly responses: Readonly<Record<number, z.ZodType | readonly string[] | "bytes" | null>>
  /** Error codes beyond those that follow from the other fields. */
  readonly errors?: readonly ErrorCode[]
}

/**
 * Whether `Idempotency-Key` is supported. Not for bytes: storing the same content again changes
 * nothing, and comparing would require to keep it.
 */
export function hasIdempotencyKey(route: Pick<RouteDefinition, "method" | "isBytesBody">): boolean {
  return route.method === "post" && route.isBytesBody !== true
}

/** A row without the fields that `route` adds. */
type Row = Omit<RouteDefinition, "method" | "path" | "params" | "tag" | "auth"> &
  Partial<Pick<RouteDefinition, "auth">>

type PathParams = typeof pathParams

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never

type Completed<Line extends string, Given extends Row> = Given & {
  readonly method: Line extends `${infer Name extends Method} ${string}` ? Name : never
  readonly path: string
  readonly tag: string
  readonly auth: Given extends { readonly auth: infer Auth } ? Auth : "required"
} & ([ParamName<Line>] extends [never]
    ? unknown
    : { readonly params: z.ZodObject<Pick<PathParams, ParamName<Line> & keyof PathParams>> })

/**
 * Makes a row of `"get /v1/vals/{val_id}"` and the rest of it. The names in the path give its
 * parameters. A token is required unless the row says otherwise.
 */
export function route<const Line extends `${Method} /${string}`, const Given extends Row>(
  tag: string,
  line: Line & (ParamName<Line> extends keyof PathParams ? unknown : never),
  given: Given,
): Completed<Line, Given> {
  const [method, path = ""] = line.split(" ")
  const names = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name as keyof PathParams)
  const params = names.length > 0 ? { params: toParams(names) } : {}
  const row = { method, path, tag, auth: "required", ...params, ...given }
  return row as unknown as Completed<Line, Given>
}

const paramsByNames = new Map<string, z.ZodObject>()

/** Most paths have the same few parameters, and a schema takes some KB. */
function toParams(names: readonly (keyof PathParams)[]): z.ZodObject {
  const key = names.join(" ")
  const known = paramsByNames.get(key)
  if (known) return known
  const params = z.object(Object.fromEntries(names.map((name) => [name, pathParams[name]])))
  paramsByNames.set(key, params)
  return params
}
