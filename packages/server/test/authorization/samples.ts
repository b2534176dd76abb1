import type { RouteDefinition } from "@hamlet/contract"
import { z } from "zod"

/** A request that its route accepts, for a caller who may send it. */
export interface SampleRequest {
  readonly method: string
  readonly path: string
  /** Fields of JSON, or bytes. */
  readonly body?: Record<string, unknown> | Uint8Array
}

/** What the path parameters of a route stand for, by their name. */
export type PathValues = Readonly<Record<string, string>>

interface JsonSchema {
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly wire?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

/**
 * Builds a request from the route's own schemas, or throws an error that names the route, so that
 * no route is missing from the matrix.
 */
export function toSampleRequest(
  name: string,
  route: RouteDefinition,
  values: PathValues,
  unique: string,
): SampleRequest {
  const fields = fieldSamples(unique)
  const query =
    route.query &&
    assertAccepted(
      name,
      "query",
      route.query,
      querySamples[name] ?? {
        ...toText(toFields(route.query, fields, "required")),
        ...(isOfVal(route) ? { val_id: values.val_id } : {}),
      },
    )
  const search = query ? new URLSearchParams(query as Record<string, string>).toString() : ""
  const path = toPath(name, route, values) + (search === "" ? "" : `?${search}`)
  const method = route.method.toUpperCase()
  if (route.isBytesBody)
    return { method, path, body: new TextEncoder().encode(`bytes of ${unique}`) }
  return route.body
    ? {
        method,
        path,
        body: assertAccepted(
          name,
          "body",
          route.body,
          bodySamples[name] ?? toFields(route.body, fields, "all"),
        ),
      }
    : { method, path }
}

/** Whether the route is about what a val stores, which its query names. */
export function isOfVal({ path }: RouteDefinition): boolean {
  return /^\/v2\/(?:blob|sqlite)\b/.test(path)
}

/** Queries that must have one of their fields. */
const querySamples: Readonly<Record<string, Record<string, string>>> = {
  previewSchedule: { every: "1h" },
  listFiles: { path: "" },
  createFile: { path: "sample.txt" },
  updateFile: { path: "main.tsx" },
  deleteFile: { path: "main.tsx" },
  getFileContent: { path: "main.tsx" },
}

/** Bodies that must not have all of their fields. */
const bodySamples: Readonly<Record<string, Record<string, unknown>>> = {
  // The other fields are for runs of a request.
  replayRun: { args: [2] },
  // The sample has one file and no other branch.
  createRun: { args: [1], version: 1, file: "main.tsx", branch: "main", retries: 0 },
  createFile: { type: "file", content: "sample" },
  updateFile: { content: "changed" },
  changeFiles: { changes: [{ path: "sample.txt", content: "sample" }] },
  // The sample has nothing to merge, and main has another version.
  mergeBranch: { into: "parent", resolved: [{ path: "sample.txt", content: "sample" }] },
  restoreFiles: { path: "main.tsx", note: "sample" },
  putVersionNote: { note: "sample" },
  createSession: { token: "sample" },
  createOrgInvitation: { role: "member" },
  putSchedule: { every: "200d" },
  readNotifications: {},
  putNotificationSettings: { muted: ["like"] },
  createWebhook: { url: "https://receiver.invalid/", events: ["val.saved"], isPaused: true },
  updateWebhook: { description: "changed" },
  sendTestEmail: { subject: "sample", text: "sample" },
  sendEmail: { to: "sample@example.com", subject: "sample", text: "sample" },
}

/**
 * Values for fields whose rules a JSON schema does not express. `unique` makes names that are not
 * taken.
 */
function fieldSamples(unique: string): Readonly<Record<string, unknown>> {
  return {
    name: `sample_${unique}`,
    username: `user_${unique}`,
    confirm: `org_${unique}`,
    email: "sample@example.com",
    bio: `bio of ${unique}`,
    code: `export const sample = "${unique}"`,
    hosts: ["api.example.com"],
    imageUrl: "https://example.com/sample.png",
    statement: `create table sample_${unique} (a)`,
    statements: [`create table sample_${unique} (a)`],
    vals: [{ name: `sample_${unique}`, versions: [{ code: "1" }] }],
    dryRun: false,
    version: 1,
    // The sample has one file and no other branch.
    file: "main.tsx",
    branch: "main",
    method: "POST",
    path: "/sample",
    headers: [["x-sample", "1"]],
    // There is a text already.
    bodyBase64: "",
    // The caller owns what it makes, and branches begin with main.
    orgId: undefined,
    branchId: undefined,
    // The one scope that every token has which may create tokens at all.
    scopes: ["user:write"],
  }
}

function toPath(name: string, route: RouteDefinition, values: PathValues): string {
  const params: Record<string, string> = {}
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => {
    const value = values[param]
    if (value === undefined)
      throw new Error(
        `Cannot build a sample request for route ${name}: nobody says what {${param}} of its path stands for`,
      )
    params[param] = value
    return encodeURIComponent(value)
  })
  if (route.params) assertAccepted(name, "path", route.params, params)
  return path
}

/**
 * A query needs only what must be there; of a body everything, since one that changes nothing is
 * refused.
 */
function toFields(
  schema: z.ZodType,
  samples: Readonly<Record<string, unknown>>,
  which: "all" | "required",
): Record<string, unknown> {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
  }) as JsonSchema
  const wanted = Object.entries(properties).filter(
    ([field]) => which === "all" || required.includes(field),
  )
  return Object.fromEntries(
    wanted.map(([field, property]) => [
      field,
      field in samples ? samples[field] : toSample(property),
    ]),
  )
}

function toText(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, String(value)]))
}

function toSample(schema: JsonSchema): unknown {
  const { type, format, enum: choices, minimum, items, anyOf } = schema.wire ?? schema
  if (anyOf?.[0]) return toSample(anyOf[0])
  if (choices) return choices[0]
  if (format === "date-time") return "2999-12-31T23:59:59.999Z"
  if (type === "integer" || type === "number") return minimum ?? 1
  if (type === "boolean") return true
  if (type === "array") return [toSample(items ?? {})]
  if (type === "object") return {}
  return "sample"
}

/** The sample as it was, which the route's own schema accepts. */
function assertAccepted(
  name: string,
  place: string,
  schema: z.ZodType,
  sample: Record<string, unknown>,
): Record<string, unknown> {
  const { success, error } = schema.safeParse(sample)
  if (success) return sample
  throw new Error(`Cannot build a sample ${place} for route ${name}: ${z.prettifyError(error)}`)
}
