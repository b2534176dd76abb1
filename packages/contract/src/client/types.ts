import type { z } from "zod"
import type { RouteName, Routes } from "../routes.ts"
import type { runStatus } from "../schemas/fields.ts"
import type { accountLog, logLine, run } from "../schemas/runs/run-records.ts"
import type { Clock } from "./clock.ts"
import type { Input } from "./input.ts"

/** The part of `fetch` that a client uses; `(url, init) => app.request(url, init)` works too. */
export type Fetch = (url: string, init: RequestInit) => Response | Promise<Response>

/** Options of a client. */
export interface ClientOptions {
  /** The URL of the server: `https://hamlet.example`, with a path if it is mounted below one. */
  readonly baseUrl: string
  /** Without a token the client is anonymous. */
  readonly token?: string | undefined
  /** The organisation for which the client acts, by name or id; by default the user. */
  readonly owner?: string | undefined
  readonly fetch?: Fetch | undefined
  readonly retriesMax?: number | undefined
  /** Per attempt. */
  readonly timeoutMs?: number | undefined
  /** The largest response that is read as a whole; bytes are returned unread. */
  readonly responseBytesMax?: number
  readonly clock?: Clock | undefined
  /** From 0 to below 1, to spread the retries of many clients. */
  readonly random?: (() => number) | undefined
}

/** Options of one call, depending on the route. */
export type CallOptions<Name extends RouteName> = CommonOptions &
  (Routes[Name] extends { readonly hasIfMatch: true } ? IfMatch : unknown) &
  (Routes[Name] extends { readonly hasAsync: true } ? RespondAsync : unknown) &
  (Routes[Name] extends { readonly method: "post" }
    ? Routes[Name] extends { readonly isBytesBody: true }
      ? unknown
      : IdempotencyKey
    : unknown)

interface CommonOptions {
  /** Aborts the call, also between attempts; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

interface IfMatch {
  /**
   * The version that the caller has seen: the call fails with `version_conflict` if the val has a
   * newer one.
   */
  readonly ifMatch?: number | undefined
}

interface IdempotencyKey {
  /** Calls with the same key and input are executed once; by default each call has a random key. */
  readonly idempotencyKey?: string | undefined
}

interface RespondAsync {
  /** Respond with 202 before the run has ended; poll the run for its result. */
  readonly respondAsync?: boolean | undefined
}

interface IfNoneMatch {
  /**
   * The `etag` of an earlier response: the status is 304, without a body, if nothing has changed.
   */
  readonly ifNoneMatch: string
}

/** All options, as used inside the client. */
export type AnyCallOptions = CommonOptions &
  IfMatch &
  RespondAsync &
  IdempotencyKey &
  Partial<IfNoneMatch>

/** A response, as used inside the client. */
export interface AnyRawResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** A page, as used inside the client. */
export interface AnyPage {
  readonly data: readonly unknown[]
  readonly links: { readonly next?: string | undefined }
}

/** The successful responses of a route, by status. */
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
      ? // Unread: use `await (await client.getBlob({ key })).bytes()`, or stream its `body`.
        Response
      : undefined

/** What a method of the client resolves to. */
export type Output<Name extends RouteName> = RawResponse<Name>["body"]

/** The response to a request whose ETag still matches. */
export interface NotModified {
  readonly status: 304
  readonly headers: Headers
  readonly body: undefined
}

/** The routes that return a page of a list. */
export type PageName = {
  [Name in RouteName]: Output<Name> extends AnyPage ? Name : never
}[RouteName]

/** The items of a list. */
export type Item<Name extends PageName> =
  Output<Name> extends { data: (infer Element)[] } ? Element : never

/** The arguments of a method; the input is optional if no field is required. */
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

/** An event of a followed run: a log line with its index, or the end. */
export type RunEvent =
  | { readonly kind: "log"; readonly index: number; readonly line: z.output<typeof logLine> }
  | {
      readonly kind: "end"
      readonly status: z.output<typeof runStatus>
      readonly logsTruncated: boolean
    }

/**
 * An event of the runs of an account. The first one is `open`: from then on every line is sent.
 * `skipped` is the number of events that the client was too slow for.
 */
export type AccountEvent =
  | { readonly kind: "open" }
  | ({ readonly kind: "log" } & Readonly<z.output<typeof accountLog>>)
  | { readonly kind: "end"; readonly run: z.output<typeof run> }
  | { readonly kind: "skipped"; readonly events: number }

/** How to follow a run, or all runs of an account. */
export interface FollowOptions {
  /** Stops following, with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** How long the server may be silent; it sends something at least every 15 seconds. */
  readonly timeoutMs?: number | undefined
}

/** One method per row of the route table, and helpers for raw responses, pages, items and runs. */
export type Client = { readonly [Name in RouteName]: Method<Name> } & {
  /** The methods once more, resolving to status, headers and body. */
  readonly raw: { readonly [Name in RouteName]: RawMethod<Name> }
  /** The pages of a list, from the requested one to the last, each fetched when it is needed. */
  pages<Name extends PageName>(
    name: Name,
    ...args: Arguments<Name>
  ): AsyncGenerator<Output<Name>, void, void>
  /** The items of a list, across its pages. */
  items<Name extends PageName>(
    name: Name,
    ...args: Arguments<Name>
  ): AsyncGenerator<Item<Name>, void, void>
  /** Follows a run: its log lines from `from` on, until it ends. */
  follow(
    input: { readonly run_id: string; readonly from?: number },
    options?: FollowOptions,
  ): AsyncGenerator<RunEvent, void, void>
  /**
   * Follows all runs on the caller's account, until the server closes the connection: it does so
   * from time to time, so that a revoked token is noticed. Then call it again, and read what was
   * logged in between with `listMyLogs`.
   */
  followAccount(options?: FollowOptions): AsyncGenerator<AccountEvent, void, void>
}
