import type { z } from "zod"
import type { ErrorCode } from "./errors.ts"
import type { Scope } from "./schemas/fields.ts"

/** The methods that routes use; HEAD works wherever GET does. */
export type Method = "get" | "post" | "put" | "delete"

/**
 * One row of the route table. The server's routing and validation, the OpenAPI document, the typed
 * client and the authorization matrix of the tests are all read from it, so a route cannot be in
 * one of them and missing in another.
 */
export interface RouteDefinition {
  readonly method: Method
  /** In OpenAPI form: `/v1/vals/{val_id}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  /** `required`: 401 without a token. `optional`: a token widens what one sees. */
  readonly auth: "required" | "optional" | "none"
  /** The scope a token needs, where one is sent. */
  readonly scope?: Scope
  /**
   * The scope it needs as well where what is sent changes something, which shows only when it is
   * done.
   */
  readonly scopeToWrite?: Scope
  /** The operator may let clients in without a token, though one is `required` otherwise. */
  readonly mayBeAnonymous?: true
  /**
   * It signs a browser in: only a page of this server may send it, and every try counts as a
   * request without a token.
   */
  readonly isSignIn?: boolean
  /** It needs no token, and every call counts as a request without one. */
  readonly isCountedByAddress?: boolean
  /** What the caller must be to the val that the path names: able to see it, or its owner. */
  readonly valAccess?: "see" | "own"
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: z.ZodType<object>
  /**
   * With a `text/*` or JavaScript content type, a body that is not a JSON object with a string
   * `code` is the code itself.
   */
  readonly isCodeBody?: boolean
  /**
   * The body is bytes, taken as they come: nothing parses it, and it may be larger than other
   * bodies.
   */
  readonly isBytesBody?: boolean
  /** The last parameter takes the rest of the path, whose slashes may be encoded or not. */
  readonly isRestPath?: boolean
  /** `If-Match` with a version number is honoured. */
  readonly hasIfMatch?: boolean
  /** `ETag` and `If-None-Match` are honoured. */
  readonly hasEtag?: boolean
  /** `Range` with one range of bytes is honoured. */
  readonly hasRange?: boolean
  /**
   * `Prefer: respond-async` is honoured: 202 at once, and `Location` says where the answer will be.
   */
  readonly hasAsync?: boolean
  /**
   * With `Accept: text/event-stream` the answer is a stream of events, which `Last-Event-ID`
   * resumes.
   */
  readonly hasEvents?: boolean
  /**
   * By status: the schema of a JSON answer, the content types of one that is text, `bytes` for one
   * of any type, or `null` for none.
   */
  readonly responses: Readonly<Record<number, z.ZodType | readonly string[] | "bytes" | null>>
  /** The codes it may answer with beyond those that follow from the other fields. */
  readonly errors?: readonly ErrorCode[]
}

/**
 * Whether `Idempotency-Key` is honoured. It is not for bytes: storing the same again changes
 * nothing, and to compare them they would have to be kept.
 */
export function hasIdempotencyKey(route: Pick<RouteDefinition, "method" | "isBytesBody">): boolean {
  return route.method === "post" && route.isBytesBody !== true
}

/** Keeps the precise type of a row while checking its shape. */
export function route<const Definition extends RouteDefinition>(
  definition: Definition,
): Definition {
  return definition
}
