import type { RouteDefinition, Routes } from "@hamlet/contract"
import type { PageRoom } from "@hamlet/database/page"
import type { z } from "zod"
import type { Caller } from "../domain/access/caller.ts"
import type { ApiResponse } from "./response/api-response.ts"

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** A validated request, typed by its row of the route table. */
export interface Call<Route extends RouteDefinition = RouteDefinition> {
  readonly params: Parsed<Route["params"]>
  readonly query: Parsed<Route["query"]>
  readonly body: Parsed<Route["body"]>
  /** JSON of the fields that a large body lacks because handlers forward them unparsed. */
  readonly forwardedJson: Readonly<Record<string, string>>
  readonly caller: Route extends { auth: "required"; mayBeAnonymous?: never }
    ? Caller
    : Caller | undefined
  /** The run that sends the request, if a val of this server does. */
  readonly runId: string | undefined
  readonly ifMatch: number | undefined
  readonly request: Request
  /** The memory that the response may use. */
  readonly room: PageRoom
  /** The client's address. */
  address(): string
}

/** Calls one domain function and creates the response. */
export type Handler<Route extends RouteDefinition> = (call: Call<Route>) => Promise<ApiResponse>

/** A handler for every route: a route without one does not compile. */
export type Handlers = { readonly [Name in keyof Routes]: Handler<Routes[Name]> }

/** The client's connection. */
export interface ApiConnection {
  address?(): string
  /** Requests without a token count against this key; the address if it is absent. */
  readonly rateKey?: string
  /** Whether the request arrived at the port that has only the metrics. */
  readonly isMetricsPort?: boolean
  /** Whether a val sends the request. It does not pass the proxy in front of the server. */
  readonly isVal?: boolean
  /** The run of that val that sends it, if it is known. */
  readonly runId?: string | undefined
}

/** A request to an endpoint. */
export interface EndpointRequest {
  readonly request: Request
  readonly requestId: string
  readonly path: string
  readonly connection: ApiConnection
  /** Set after authentication. */
  caller: Caller | undefined
}

/**
 * A path that is not in the route table, because its errors, bodies and responses are those of
 * another protocol, or because it is text for people and models.
 */
export interface Endpoint {
  readonly methods: readonly string[]
  respond(context: EndpointRequest): Promise<ApiResponse>
}
