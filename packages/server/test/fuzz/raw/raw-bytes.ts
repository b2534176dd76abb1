import fc from "fast-check"
import { toText } from "../body-mutations.ts"
import { anyPlan } from "../mutations.ts"
import type { Plan } from "../plan.ts"
import type { Pools } from "../pools.ts"
import type { CloseMode } from "./raw-client.ts"

/** Bytes that were a request once. */
export interface RawPlan {
  readonly plans: readonly Plan[]
  readonly isChunked: boolean
  readonly edits: readonly Edit[]
  readonly leaving: CloseMode
}

interface Edit {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

/** One or two requests on one connection, with a few bytes changed. */
export function anyRawPlan(): fc.Arbitrary<RawPlan> {
  const insert = fc.oneof(
    fc.constantFrom(
      "",
      "\r\n",
      "\n",
      "\0",
      " ",
      ":",
      "\r\n\r\n",
      "HTTP/1.1",
      "0\r\n\r\n",
      "\x7f",
      "\xff",
      "%",
    ),
    fc.string({
      unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
      maxLength: 8,
    }),
  )
  return fc.record({
    plans: fc.array(anyPlan(), { minLength: 1, maxLength: 2 }),
    isChunked: fc.boolean(),
    edits: fc.array(fc.record({ at: fc.nat(), remove: fc.nat(6), insert }), { maxLength: 3 }),
    leaving: fc.constantFrom<CloseMode>("wait", "wait", "wait", "end", "cut"),
  })
}

/** The bytes, in a text of Latin-1. */
export function toRawBytes({ plans, isChunked, edits }: RawPlan, pools: Pools): string {
  const text = plans
    .map((plan, index) => toHttp(plan, pools, isChunked, index === plans.length - 1))
    .join("")
  return edits.reduce((bytes, { at, remove, insert }) => {
    // Most of a request may be its body, but its head is what is read with most care.
    const place = at % Math.min(bytes.length, 600)
    return bytes.slice(0, place) + insert + bytes.slice(place + remove)
  }, text)
}

function toHttp(plan: Plan, pools: Pools, isChunked: boolean, isLast: boolean): string {
  const query = plan.query.length > 0 ? `?${plan.query.join("&")}` : ""
  const target = toBytes(
    pools.resolve(`/${plan.segments.join("/")}${query}`, plan.focus).replaceAll(/[\s#]/g, "+"),
  )
  const headers = plan.headers
    .map(([name, value]) => `${name}: ${pools.resolve(value, plan.focus)}\r\n`)
    .join("")
  const body =
    plan.body?.kind === "bytes"
      ? Buffer.from(plan.body.bytes).toString("latin1")
      : toBytes(pools.resolve(toText(plan), plan.focus))
  const framing = isChunked
    ? "transfer-encoding: chunked\r\n"
    : `content-length: ${body.length}\r\n`
  const head = `${plan.method} ${target} HTTP/1.1\r\nhost: hamlet.test\r\n${headers}${framing}${isLast ? "connection: close\r\n" : ""}\r\n`
  return (
    head +
    (isChunked
      ? `${body === "" ? "" : `${body.length.toString(16)}\r\n${body}\r\n`}0\r\n\r\n`
      : body)
  )
}

function toBytes(text: string): string {
  return Buffer.from(text).toString("latin1")
}
