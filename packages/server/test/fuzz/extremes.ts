import type { CallOptions, TestUser } from "../support/api.ts"
import { hostileObjects } from "./hostile-values.ts"
import type { Operation } from "./operations.ts"

interface Extreme {
  readonly method: string
  readonly path: string
  readonly options: CallOptions
  /** Whether it is refused, or has no route, before the database is used. */
  readonly isRefusedEarly?: boolean
}

const levels = 100_000
const deepTexts = [
  `${"[".repeat(levels)}${"]".repeat(levels)}`,
  `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`,
]
/** Refused by the parser, whatever is around it. */
const unclosedText = "[".repeat(levels)

/**
 * Requests that are too large to be generated often by chance: one for each operation, by a user
 * with all scopes.
 */
export function* extremes(as: TestUser, operations: readonly Operation[]): Generator<Extreme> {
  for (const { method, path: template, body, isBytesBody, isForAdmin } of operations) {
    const known: Readonly<Record<string, string>> = isForAdmin
      ? { ...values, user_id: "~target.0.id~" }
      : values
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? "x")
    const headers = Object.fromEntries(
      longHeaders.map((name) => [name, `"${"a".repeat(1_000_000)}"`]),
    )
    yield { method, path, options: { as, headers } }
    const isRefusedEarly = true
    yield { method, path, options: { as: "x".repeat(1_000_000) }, isRefusedEarly }
    yield { method, path: `${path}/${"a".repeat(1_000_000)}`, options: { as }, isRefusedEarly }
    yield { method, path: `${path}${"/a".repeat(100_000)}`, options: { as }, isRefusedEarly }
    if (isBytesBody)
      for (const size of [0, 2_097_153, 20_000_000])
        yield { method, path, options: { as, body: new Uint8Array(size) } }
    if (body === undefined) continue
    yield { method, path, options: { as, body: unclosedText } }
    for (const deep of deepTexts) {
      yield { method, path, options: { as, body: deep } }
      yield { method, path, options: { as, body: deep, headers: { "content-type": "text/plain" } } }
      for (const name of [...Object.keys(body.properties ?? {}), "unknown"])
        yield { method, path, options: { as, body: `{"${name}":${deep}}` } }
    }
    for (const hostile of hostileObjects) {
      for (const value of [hostile, `[${hostile}]`, `{"a":${hostile}}`]) {
        const fields = Object.keys(body.properties ?? {}).map((name) => `"${name}":${value}`)
        yield { method, path, options: { as, body: `{${fields.join()}}` } }
      }
    }
    yield { method, path, options: { as, body: `{${'"a":1,'.repeat(200_000)}"a":1}` } }
    yield { method, path, options: { as, body: `[${"{},".repeat(600_000)}{}]` } }
    yield { method, path, options: { as, body: "9".repeat(2_000_000) } }
    yield { method, path, options: { as, body: new Uint8Array(2_097_152) } }
    yield { method, path, options: { as, body: new Uint8Array(2_097_153) } }
  }
  const flood = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, "1"]),
  )
  yield { method: "GET", path: "/v1/me", options: { as, headers: flood } }
}

const longHeaders = [
  "if-match",
  "if-none-match",
  "idempotency-key",
  "content-type",
  "accept",
  "user-agent",
  "x-forwarded-for",
]

const values: Readonly<Record<string, string>> = {
  val_id: "~val.0.id~",
  version: "1",
  user_id: "~user.0.id~",
  username: "ada",
  val_name: "ada_0",
  run_id: "~run.0.id~",
  comment_id: "~comment.0.id~",
  token_id: "~token.0.id~",
  session_id: "~session.0.id~",
  authorization_id: "~authorization.0.id~",
  email_id: "~email.0.id~",
  webhook_id: "~webhook.0.id~",
  delivery_id: "~webhook.0.delivery~",
  name: "KEY",
  key: "a%2Fb",
}
