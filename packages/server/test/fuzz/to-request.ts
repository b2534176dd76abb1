import { testBaseUrl } from "../support/api.ts"
import { toText } from "./body-mutations.ts"
import type { Plan } from "./plan.ts"
import type { Pools } from "./pools.ts"

const printedCharsMax = 600

/** The request that a plan describes, with what exists now in place of its marks. */
export function toRequest(plan: Plan, pools: Pools): Request {
  const query = plan.query.length > 0 ? `?${plan.query.join("&")}` : ""
  const url = pools.resolve(`${testBaseUrl}/${plan.segments.join("/")}${query}`, plan.focus)
  const headers = plan.headers.map(([name, value]): [string, string] => [
    name,
    pools.resolve(value, plan.focus),
  ])
  const body = toBytes(plan, pools)
  return new Request(url, {
    method: plan.method,
    headers,
    ...(body === undefined ? {} : { body: body as BodyInit }),
  })
}

function toBytes(plan: Plan, pools: Pools): string | Uint8Array | undefined {
  if (plan.body === undefined) return undefined
  return plan.body.kind === "bytes"
    ? plan.body.bytes
    : pools.resolve(toText(plan), plan.focus).toWellFormed()
}

/** The request for a person who wants to send it again. */
export function printRequest(plan: Plan, pools: Pools): string {
  const { method, url, headers } = toRequest(plan, pools)
  const body = toBytes(plan, pools)
  const lines = [...headers].slice(0, 20).map(([name, value]) => `  ${name}: ${cut(value)}`)
  const shown =
    body === undefined
      ? []
      : [
          `  body: ${cut(typeof body === "string" ? JSON.stringify(body) : `hex ${Buffer.from(body).toString("hex")}`)}`,
        ]
  return [`${plan.operation.id}: ${method} ${cut(url)}`, ...lines, ...shown].join("\n")
}

function cut(text: string): string {
  return text.length <= printedCharsMax
    ? text
    : `${text.slice(0, printedCharsMax)}… (${text.length} characters)`
}
