import type { RouteDefinition, Routes } from "@hamlet/contract"
import type { z } from "zod"
import type { Caller } from "../domain/access.ts"
import type { ApiResponse } from "./response/api-response.ts"

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/**
 * A request after everything about it was checked, with the types that its row of the route table
 * gives it.
 */
export interface Call<Route extends RouteDefinition = RouteDefinition> {
  readonly params: Parsed<Route["params"]>
  readonly query: Parsed<Route["query"]>
  readonly body: Parsed<Route["body"]>
  /** The JSON of fields of a large body that are passed on: the body is without them. */
  readonly forwardedJson: Readonly<Record<string, string>>
  readonly caller: Route extends { auth: "required"; mayBeAnonymous?: never }
    ? Caller
    : Caller | undefined
  readonly ifMatch: number | undefined
  readonly request: Request
  /** Of the client's connection. */
  address(): string
}

/** Calls one domain function and shapes the answer. */
export type Handler<Route extends RouteDefinition> = (call: Call<Route>) => Promise<ApiResponse>

/** A handler for every route: the compiler refuses a table with a row that nobody serves. */
export type Handlers = { readonly [Name in keyof Routes]: Handler<Routes[Name]> }
