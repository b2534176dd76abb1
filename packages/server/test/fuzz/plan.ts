import fc from "fast-check"
import type { Operation } from "./operations.ts"
import { poolSize } from "./pools.ts"
import {
  mark,
  validBytes,
  validEmail,
  validRequest,
  validSchedule,
  validTestEmail,
  validValue,
  validWebhook,
  validWebhookChange,
} from "./valid-values.ts"

/** A request before the marks in it are resolved. */
export interface Plan {
  readonly operation: Operation
  /** The number of what the request is about. */
  readonly focus: number
  readonly method: string
  /** The segments of the path as they stand in the address, encoded or broken. */
  readonly segments: readonly string[]
  readonly query: readonly string[]
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: PlannedBody | undefined
  /** Whether the document says that it is well formed and the token may do it. */
  readonly isValid: boolean
}

/** A body as a value, whose fields can still be spoilt, as a text or as bytes. */
export type PlannedBody =
  | { readonly kind: "fields"; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "bytes"; readonly bytes: Uint8Array }

/** Spoils one thing about a request. */
export type Mutation = (plan: Plan) => Plan

/** Requests to an operation that are as the document wants them. */
export function validPlan(operation: Operation): fc.Arbitrary<Plan> {
  const of = (place: string) => operation.parameters.filter((parameter) => parameter.in === place)
  // What administrators do with users, they do with some who are there for nothing else.
  const isTarget = (name: string) => name === "user_id" && operation.isForAdmin
  const params = fc.record(
    Object.fromEntries(
      of("path").map(({ name, schema }) => [
        name,
        isTarget(name) ? mark("target") : validValue(name, schema),
      ]),
    ),
  )
  // One of two parameters, which the document does not say: the other is left out.
  const isNeeded = (name: string) =>
    (operation.id === "previewSchedule" && name === "every") ||
    // Only the token of a run says which val it means.
    (name === "val_id" && /^\/v2\/(?:blob|sqlite)\b/.test(operation.path))
  const required = of("query").filter(({ name, required }) => required || isNeeded(name))
  // A cursor is sound in the one list that made it: the other generator has those that are not.
  const free = of("query").filter(({ name }) => name !== "cursor" && name !== "cron")
  const query = fc.record(
    Object.fromEntries(free.map(({ name, schema }) => [name, validValue(name, schema)])),
    {
      requiredKeys: required.map(({ name }) => name),
    },
  )
  const body = soundBody(operation)
  const parts = fc.record({
    focus: fc.nat(poolSize - 1),
    params,
    query,
    body,
    headers: soundHeaders(operation),
  })
  return parts.map(({ focus, params, query, headers, body }) => ({
    operation,
    focus,
    method: operation.method,
    segments: toSegments(operation.path, ofOneRun(operation, params as Record<string, unknown>)),
    query: Object.entries(query).map(
      ([name, value]) => `${name}=${encodeURIComponent(String(value))}`,
    ),
    headers,
    body,
    isValid: true,
  }))
}

/**
 * Gives a path with a val and a run the run's val: of two that were taken by chance, hardly any
 * fit.
 */
function ofOneRun(
  { path }: Operation,
  params: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const run = path.includes("{val_id}")
    ? /^~run\.(\d+|\*)\.id~$/.exec(String(params.run_id))?.[1]
    : undefined
  return run === undefined ? params : { ...params, val_id: `~run.${run}.val~` }
}

function soundBody(operation: Operation): fc.Arbitrary<PlannedBody | undefined> {
  // One of two fields, which JSON Schema is not told, and a token that works.
  if (operation.id === "createSession")
    return mark("bearer", "token").map((token) => toFields({ token }))
  if (operation.id === "findSignInLinkOwner")
    return mark("link", "code").map((code) => toFields({ code }))
  if (operation.id === "acceptInvitation")
    return fc
      .tuple(mark("invitation", "code"), fc.nat())
      .map(([code, number]) => toFields({ code, username: `guest${number}` }))
  if (operation.id === "putSchedule") return validSchedule.map(toFields)
  if (operation.id === "sendValRequest") return validRequest.map(toFields)
  // Retries are for runs that no caller waits for, which a header decides.
  if (operation.id === "createRun" && operation.body)
    return validValue("body", operation.body).map((body) => {
      const { retries: _, ...rest } = body as Record<string, unknown>
      return toFields(rest)
    })
  // Which changes are possible depends on how the run was started: these were calls.
  if (operation.id === "replayRun")
    return fc.constantFrom({}, { args: [2] }, { args: [] }).map(toFields)
  if (operation.id === "createWebhook") return validWebhook.map(toFields)
  if (operation.id === "updateWebhook") return validWebhookChange.map(toFields)
  if (operation.id === "sendEmail") return validEmail.map(toFields)
  // The name of the field means something else elsewhere.
  if (operation.id === "confirmEmail")
    return fc.constantFrom("1234 5678", "x").map((code) => toFields({ code }))
  if (operation.id === "sendTestEmail") return validTestEmail.map(toFields)
  if (operation.isBytesBody) return validBytes.map((bytes) => ({ kind: "bytes", bytes }))
  return operation.body === undefined
    ? fc.constant(undefined)
    : validValue("body", operation.body).map(toFields)
}

/** The body's fields as JSON texts, so that a single one can be replaced by what no value says. */
function toFields(value: unknown): PlannedBody {
  const fields = Object.entries(value as Record<string, unknown>).map(([name, inner]) => [
    name,
    JSON.stringify(inner),
  ])
  return { kind: "fields", fields: Object.fromEntries(fields) as Record<string, string> }
}

function toSegments(path: string, params: Readonly<Record<string, unknown>>): readonly string[] {
  const encoded = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeSegment(String(params[name])),
  )
  return encoded.slice(1).split("/")
}

/** A segment of nothing but points would be taken for a direction. */
export function encodeSegment(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/^\.{1,2}$/, "dots")
}

function soundHeaders(operation: Operation): fc.Arbitrary<readonly (readonly [string, string])[]> {
  const token = fc.oneof(
    { weight: 3, arbitrary: fc.constant(ownToken(operation)) },
    { weight: 1, arbitrary: mark("bearer", "token") },
  )
  const has = (name: string) =>
    operation.parameters.some((parameter) => parameter.in === "header" && parameter.name === name)
  const optional = [
    ...(has("Idempotency-Key")
      ? [
          header(
            "idempotency-key",
            fc
              .oneof(
                { weight: 5, arbitrary: fc.nat(1_000_000) },
                { weight: 1, arbitrary: fc.nat(5) },
              )
              .map((number) => `key-${number}`),
          ),
        ]
      : []),
    ...(has("If-Match")
      ? [header("if-match", fc.constantFrom('"1"', "2", '"3"', "*", 'W/"1-abc"'))]
      : []),
    ...(has("If-None-Match")
      ? [header("if-none-match", fc.constantFrom("*", '"1-abc"', '"a", W/"b"'))]
      : []),
    ...(operation.path.includes("/{module}") || operation.id.startsWith("getModule")
      ? [header("user-agent", fc.constantFrom("Mozilla/5.0", "Deno/2"))]
      : []),
    ...(has("Range")
      ? [
          header(
            "range",
            fc.constantFrom("bytes=0-", "bytes=0-1", "bytes=-3", "bytes=0-1,3-4", "lines=1"),
          ),
        ]
      : []),
    ...(operation.isBytesBody
      ? [
          header(
            "content-type",
            fc.constantFrom(
              "application/json",
              "text/html; charset=utf-16",
              "image/png",
              "x",
              ";",
              "text/event-stream",
            ),
          ),
        ]
      : []),
    ...(operation.body
      ? [
          header(
            "content-type",
            fc.constantFrom(
              "application/json",
              "application/json; charset=utf-8",
              "application/x-www-form-urlencoded",
            ),
          ),
        ]
      : []),
  ]
  return fc
    .tuple(
      header(
        "authorization",
        token.map((text) => `Bearer ${text}`),
      ),
      ...optional.map(sometimes),
      ...(has("X-Hamlet-Session") ? [header("x-hamlet-session", fc.constant("1"))] : []),
    )
    .map((all) => all.filter((one) => one !== undefined))
}

/** The token with the most rights on the target of the request. */
function ownToken(operation: Operation): string {
  if (operation.isForAdmin || operation.path === "/v1/backup") return "~admin.0.token~"
  const about = [
    "run",
    "comment",
    "token",
    "session",
    "identity",
    "authorization",
    "email",
    "webhook",
  ].find((kind) => operation.path.includes(`{${kind}_id}`))
  return `~${about ?? "val"}.*.token~`
}

function header(
  name: string,
  value: fc.Arbitrary<string>,
): fc.Arbitrary<readonly [string, string]> {
  return value.map((text) => [name, text] as const)
}

function sometimes<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined })
}
