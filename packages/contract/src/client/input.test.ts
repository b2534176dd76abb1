import { describe, expect, expectTypeOf, test } from "bun:test"
import { z } from "zod"
import type { Answer, Client, Content, Input, Item, Output, PageName } from "../client.ts"
import type { RouteDefinition } from "../route.ts"
import { routeNames, routes } from "../routes.ts"
import type { Scope } from "../schemas/fields.ts"
import type { comment, val } from "../schemas/records.ts"
import type { run } from "../schemas/runs/run-records.ts"
import type { MomentField } from "./input.ts"

type Val = z.output<typeof val>
type Comment = z.output<typeof comment>
type RunSource = z.output<typeof run>["source"]
type RunStatus = z.output<typeof run>["status"]

// Tests of types are checked by tsc; at run time they do nothing.
describe("Input", () => {
  test("requires the path parameters", () => {
    expectTypeOf<Input<"getVal">>().toEqualTypeOf<{ val_id: string }>()
    expectTypeOf<Input<"getVersion">>().toEqualTypeOf<{ val_id: string; version: number }>()
    expectTypeOf<Input<"getMe">>().toEqualTypeOf<Record<string, never>>()
  })

  test("has numbers, booleans, dates and lists where the wire has text", () => {
    expectTypeOf<Input<"listValRuns">>().toEqualTypeOf<{
      val_id: string
      limit?: number | undefined
      offset?: number | undefined
      cursor?: string | undefined
      since?: Date | string | undefined
      until?: Date | string | undefined
      error?: boolean | undefined
      source?: RunSource | readonly RunSource[] | undefined
      status?: RunStatus | readonly RunStatus[] | undefined
      text?: string | undefined
      file_id?: string | undefined
      branch_id?: string | undefined
    }>()
  })

  test("has the fields of the body, with null where the server accepts null", () => {
    expectTypeOf<Input<"createToken">>().toEqualTypeOf<{
      name: string
      scopes: readonly Scope[]
      expiresAt?: Date | string | null | undefined
    }>()
    expectTypeOf<Input<"createVersion">["type"]>().toEqualTypeOf<
      "http" | "script" | "interval" | "email" | "httpnext" | "express" | undefined
    >()
    expectTypeOf<Input<"putSecret">>().toEqualTypeOf<{
      name: string
      value: string
      hosts?: readonly string[] | null | undefined
    }>()
  })

  test("has content, where a body is bytes", () => {
    expectTypeOf<Input<"putBlob">>().toEqualTypeOf<{
      key: string
      content: Content
      contentType?: string | undefined
    }>()
    expectTypeOf<Input<"getBlob">>().toEqualTypeOf<{ key: string }>()
  })

  test("knows every date field", () => {
    const known: Record<MomentField, true> = {
      since: true,
      until: true,
      start: true,
      end: true,
      expiresAt: true,
    }
    const found = routeNames.flatMap((name) => toMoments(routes[name]))
    expect([...new Set(found)].sort()).toEqual(Object.keys(known).sort())
  })
})

describe("Output", () => {
  test("is the body of successful responses, undefined for 204, and text for other content", () => {
    expectTypeOf<Output<"getVal">>().toEqualTypeOf<Val>()
    expectTypeOf<Output<"createVersion">>().toEqualTypeOf<Val>()
    expectTypeOf<Output<"deleteVal">>().toEqualTypeOf<undefined>()
    expectTypeOf<Output<"getModule">>().toEqualTypeOf<string>()
    expectTypeOf<Output<"getBlob">>().toEqualTypeOf<Response>()
    expectTypeOf<Output<"putBlob">>().toEqualTypeOf<"ok">()
    expectTypeOf<Answer<"createVersion">["status"]>().toEqualTypeOf<200 | 201>()
    expectTypeOf<Item<"listMyComments">>().toEqualTypeOf<Comment>()
  })

  test("is never unknown or any", () => {
    type Vague = {
      [Name in keyof Client["raw"]]: unknown extends Output<Name> ? Name : never
    }[keyof Client["raw"]]
    expectTypeOf<Vague>().toEqualTypeOf<never>()
    expectTypeOf<
      Extract<PageName, "listVals" | "getVal" | "getRunLogs">
    >().toEqualTypeOf<"listVals">()
  })
})

test("Client accepts and refuses what compileOnly declares", () => {
  expect(compileOnly).toBeFunction()
})

/** Never called: each line is here for what tsc says about it. */
async function compileOnly(client: Client): Promise<void> {
  const val_id = ""
  await client.getMe()
  await client.listVals()
  await client.listVals({ limit: 3 }, { signal: new AbortController().signal, timeoutMs: 1 })
  await client.createVersion({ val_id, code: "" }, { ifMatch: 3, idempotencyKey: "k" })
  client.items("listValRuns", { val_id, source: ["api"] as const })

  // @ts-expect-error a required path parameter
  await client.getVal()
  // @ts-expect-error a required path parameter
  await client.getVal({})
  // @ts-expect-error a misspelt field
  await client.getVal({ val_id, vlaId: "" })
  // @ts-expect-error a field where there is none
  await client.getMe({ limit: 3 })
  // @ts-expect-error text for a number
  await client.listVals({ limit: "3" })
  // @ts-expect-error text for a boolean
  await client.listMyRuns({ error: "true" })
  // @ts-expect-error a number for a moment
  await client.listMyRuns({ since: 3 })
  // @ts-expect-error a source that does not exist
  await client.listMyRuns({ source: ["moon"] })
  // @ts-expect-error text for a version
  await client.getVersion({ val_id, version: "3" })
  // @ts-expect-error a body without its required field
  await client.createVersion({ val_id })
  // @ts-expect-error a precondition where the server knows none
  await client.createVal({ code: "" }, { ifMatch: 3 })
  // @ts-expect-error an idempotency key where the server reads none
  await client.saveVal({ name: "", code: "" }, { idempotencyKey: "k" })
  // @ts-expect-error an idempotency key for bytes
  await client.putBlob({ key: "", content: "" }, { idempotencyKey: "k" })
  // @ts-expect-error a blob without its content
  await client.putBlob({ key: "" })
  // @ts-expect-error content that is none
  await client.putBlob({ key: "", content: { a: 1 } })
  // @ts-expect-error an ETag where a 304 has nothing to resolve to
  await client.getVal({ val_id }, { ifNoneMatch: '"3"' })
  // @ts-expect-error an ETag where there is none
  await client.raw.getMe({}, { ifNoneMatch: '"3"' })
  // @ts-expect-error without If-None-Match there is always a body, with it one has to look
  ;(await client.raw.getVal({ val_id }, { ifNoneMatch: '"3"' })).body.name
  // @ts-expect-error no list
  client.pages("getVal", { val_id })
  // @ts-expect-error a list that needs to know of what
  client.items("listVersions")
  // @ts-expect-error no such route
  client.getMoon
  // @ts-expect-error no such field of a val
  ;(await client.getVal({ val_id })).moon
}

function toMoments(route: RouteDefinition): string[] {
  return [route.params, route.query, route.body].flatMap((place) => {
    if (!place) return []
    const { properties = {} } = z.toJSONSchema(place, { io: "input", unrepresentable: "any" })
    // What is inside an object is written as it goes over the wire.
    const isMoment = (text: string) =>
      text.includes('"date-time"') && !text.includes('"properties"')
    return Object.entries(properties).flatMap(([name, property]) =>
      isMoment(JSON.stringify(property)) ? [name] : [],
    )
  })
}
