import type { z } from "zod"
import type { RouteName, Routes } from "../routes.ts"
import type { Clock } from "./clock.ts"
import type { FollowOptions, RunEvent } from "./follow-types.ts"
import type { Input } from "./input.ts"

/** The part of `fetch` that a client uses; `(url, init) => app.request(url, init)` is one too. */
export type Fetch = (url: string, init: RequestInit) => Response | Promise<Response>

/** Where the server is, who asks, and how patiently. */
export interface ClientOptions {
  /** Where the server is: `https://hamlet.example`, with a path if it is behind one. */
  readonly baseUrl: string
  /** Without one the client is anonymous. */
  readonly token?: string | undefined
  readonly fetch?: Fetch | undefined
  readonly retriesMax?: number | undefined
  /** For one attempt; a retry has as long again. */
  readonly timeoutMs?: number | undefined
  readonly clock?: Clock | undefined
  /** At least 0 and less than 1, to spread the retries of many clients. */
  readonly random?: (() => number) | undefined
}

/** What can be said about one call besides its input; which of it there is depends on the route. */
export type CallOptions<Name extends RouteName> = CommonOptions &
  (Routes[Name] extends { readonly hasIfMatch: true } ? IfMatch : unknown) &
  (Routes[Name] extends { readonly hasAsync: true } ? RespondAsync : unknown) &
  (Routes[Name] extends { readonly method: "post" }
    ? Routes[Name] extends { readonly isBytesBody: true }
      ? unknown
      : IdempotencyKey
    : unknown)

interface CommonOptions {
  /** Ends the call, also between two attempts; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

interface IfMatch {
  /**
   * The version the caller has seen: the call fails with `version_conflict` when the val has moved
   * on.
   */
  readonly ifMatch?: number | undefined
}

interface IdempotencyKey {
  /**
   * Calls with the same key and the same input are done once; without one the client makes one up
   * for each call.
   */
  readonly idempotencyKey?: string | undefined
}

interface RespondAsync {
  /** Be answered before the work is done: the status is 202, and the run is to be asked for. */
  readonly respondAsync?: boolean | undefined
}

interface IfNoneMatch {
  /**
   * An `etag` of an earlier answer: the status is 304, without a body, when nothing has changed.
   */
  readonly ifNoneMatch: string
}

/** All options there are, as the inside of the client sees them. */
export type AnyCallOptions = CommonOptions &
  IfMatch &
  RespondAsync &
  IdempotencyKey &
  Partial<IfNoneMatch>

/** An answer as the inside of the client sees it. */
export interface AnyRawResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** A page as the inside of the client sees it. */
export interface AnyPage {
  readonly data: readonly unknown[]
  readonly links: { readonly next?: string | undefined }
}

/** What a route answers with when all is well, by status. */
export type RawResponse<Name extends RouteName> = {
  [Status in GoodStatus<Name>]: {
    readonly status: Status
    readonly headers: Headers
    readonly body: Body<Routes[Name]["responses"][Status]>
  }
}[GoodStatus<Name>]

type GoodStatus<
  Name extends RouteName,
  Status = keyof Routes[Name]["responses"],
> = Status extends keyof Routes[Name]["responses"] & number
  ? `${Status}` extends `2${string}`
    ? Status
    : never
  : never

type Body<Declared> = Declared extends z.ZodType
  ? z.output<Declared>
  : Declared extends readonly string[]
    ? string
    : Declared extends "bytes"
      ? // Not read yet: `await (await client.getBlob({ key })).bytes()`, or its `body` piece by piece.
        Response
      : undefined

/** What a method of the client resolves to. */
export type Output<Name extends RouteName> = RawResponse<Name>["body"]

/** The answer to a request that named the ETag the thing still has. */
export interface NotModified {
  readonly status: 304
  readonly headers: Headers
  readonly body: undefined
}

/** The routes that answer with a page of a list. */
export type PageName = {
  [Name in RouteName]: Output<Name> extends AnyPage ? Name : never
}[RouteName]

/** What a list is a list of. */
export type Item<Name extends PageName> =
  Output<Name> extends { data: (infer Element)[] } ? Element : never

/** The arguments of a method: where no field is required, none at all will do. */
type Arguments<Name extends RouteName> =
  Record<never, never> extends Input<Name>
    ? [input?: Input<Name>, options?: CallOptions<Name>]
    : [input: Input<Name>, options?: CallOptions<Name>]

type Method<Name extends RouteName> = (...args: Arguments<Name>) => Promise<Output<Name>>

type RawMethod<Name extends RouteName> = ((
  ...args: Arguments<Name>
) => Promise<RawResponse<Name>>) &
  (Routes[Name] extends { readonly hasEtag: true }
    ? (
        input: Input<Name>,
        options: CallOptions<Name> & IfNoneMatch,
      ) => Promise<RawResponse<Name> | NotModified>
    : unknown)

/** One method for each row of the route table, and four ways to see more than one answer's body. */
export type Client = { readonly [Name in RouteName]: Method<Name> } & {
  /** The same methods, resolving to status, headers and body. */
  readonly raw: { readonly [Name in RouteName]: RawMethod<Name> }
  /**
   * The pages of a list from the one that the input names to the last, each fetched when it is
   * asked for.
   */
  pages<Name extends PageName>(
    name: Name,
    ...args: Arguments<Name>
  ): AsyncGenerator<Output<Name>, void, void>
  /** The items of a list, page after page. */
  items<Name extends PageName>(
    name: Name,
    ...args: Arguments<Name>
  ): AsyncGenerator<Item<Name>, void, void>
  /** What a run logs, from that line on, until it has ended. */
  follow(
    input: { readonly run_id: string; readonly from?: number },
    options?: FollowOptions,
  ): AsyncGenerator<RunEvent, void, void>
}
