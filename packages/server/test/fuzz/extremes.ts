import type { CallOptions, TestUser } from "../support/api.ts"
import { hostileObjects } from "./hostile-values.ts"
import type { Operation } from "./operations.ts"

interface Extreme {
  readonly method: string
  readonly path: string
  readonly options: CallOptions
  /** Whether what is extreme about it is refused or dropped before the database is used. */
  readonly isReadEarly?: boolean
}

const levels = 100_000
const toDeepTexts = (levels: number) => [
  `${"[".repeat(levels)}${"]".repeat(levels)}`,
  `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`,
]
const deepTexts = toDeepTexts(levels)
/** For each field: reading a body takes most of the time of a deep one, and does not differ. */
const lessDeepTexts = toDeepTexts(levels / 100)
/** Refused by the parser, whatever is around it. */
const unclosedText = "[".repeat(levels)

/**
 * Requests that are too large to be generated often by chance, by a user with all scopes: extreme
 * headers and fields for each operation. What is refused before the operation is known, or before
 * its fields are looked at, is sent once for each method: `seen` has the methods so far. A short run
 * has each hostile object in one place of a field; the next object is in the next place.
 */
export function* extremes(
  as: TestUser,
  operations: readonly Operation[],
  seen: Set<string>,
  isLong: boolean,
): Generator<Extreme> {
  for (const { method, path: template, body, isBytesBody, isForAdmin } of operations) {
    const kind = `${method} ${body !== undefined}`
    const isFirst = !seen.has(kind)
    seen.add(kind)
    const known: Readonly<Record<string, string>> = isForAdmin
      ? { ...values, user_id: "~target.0.id~" }
      : values
    const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? "x")
    // What is done with them depends on the method most of all.
    const headerChars = isFirst ? 1_000_000 : 10_000
    const headers = Object.fromEntries(
      longHeaders.map((name) => [name, `"${"a".repeat(headerChars)}"`]),
    )
    yield { method, path, options: { as, headers }, isReadEarly: true }
    if (isFirst) yield* toEarlyRefused(as, method, path)
    if (isBytesBody)
      for (const size of [0, 2_097_153, 20_000_000])
        yield { method, path, options: { as, body: new Uint8Array(size) } }
    if (body === undefined) continue
    if (isFirst)
      for (const text of unusableBodies()) yield { method, path, options: { as, body: text } }
    for (const deep of isFirst ? deepTexts : lessDeepTexts) {
      const isReadEarly = true
      if (isFirst) {
        const headers = { "content-type": "text/plain" }
        yield { method, path, options: { as, body: deep, headers }, isReadEarly }
      }
      yield { method, path, options: { as, body: `{"unknown":${deep}}` }, isReadEarly }
    }
    for (const deep of lessDeepTexts)
      for (const name of Object.keys(body.properties ?? {}))
        yield { method, path, options: { as, body: `{"${name}":${deep}}` } }
    for (const [index, hostile] of hostileObjects.entries()) {
      const places = [hostile, `[${hostile}]`, `{"a":${hostile}}`]
      for (const value of isLong ? places : places.filter((_, place) => place === index % 3)) {
        const fields = Object.keys(body.properties ?? {}).map((name) => `"${name}":${value}`)
        yield { method, path, options: { as, body: `{${fields.join()}}` } }
      }
    }
  }
  const flood = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`x-${index}`, "1"]),
  )
  yield { method: "GET", path: "/v1/me", options: { as, headers: flood } }
}

function* toEarlyRefused(as: TestUser, method: string, path: string): Generator<Extreme> {
  const isReadEarly = true
  yield { method, path, options: { as: "x".repeat(1_000_000) }, isReadEarly }
  yield { method, path: `${path}/${"a".repeat(1_000_000)}`, options: { as }, isReadEarly }
  yield { method, path: `${path}${"/a".repeat(100_000)}`, options: { as }, isReadEarly }
}

/** Bodies that are no object with fields, whichever fields the operation has. */
function* unusableBodies(): Generator<string | Uint8Array> {
  yield unclosedText
  yield* deepTexts
  yield `{${'"a":1,'.repeat(200_000)}"a":1}`
  yield `[${"{},".repeat(600_000)}{}]`
  yield "9".repeat(2_000_000)
  yield new Uint8Array(2_097_152)
  yield new Uint8Array(2_097_153)
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
  branch_id: "~val.0.id~",
  file_id: "~val.0.id~",
  org_id: "~org.0.id~",
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
  variable: "KEY",
}
