import fc from "fast-check"
import { type TestUser, testBaseUrl } from "../support/api.ts"
import type { PageOf } from "./check.ts"
import {
  addressOf,
  currentOf,
  type Model,
  type ModelVal,
  type Privacy,
  type ValType,
  type Viewer,
} from "./model.ts"
import type { Code, ValFields } from "./val-rules.ts"

/** The actor: the val's owner, the user with that number, or an anonymous client. */
export type Actor = "owner" | number | undefined

/** Few names, so that they clash, and in different cases. */
const valNames: readonly string[] = ["alpha", "Alpha", "beta", "BETA", "gamma_1"]

export const userSlot = fc.nat({ max: 2 })
export const anyViewer = fc.oneof(
  { weight: 15, arbitrary: userSlot },
  { weight: 1, arbitrary: fc.constant(undefined) },
)
export const anyActor: fc.Arbitrary<Actor> = fc.oneof(
  { weight: 12, arbitrary: fc.constant("owner" as const) },
  { weight: 2, arbitrary: userSlot },
  { weight: 1, arbitrary: fc.constant(undefined) },
)
export const slot = fc.nat({ max: 999 })
export const anyName = fc.constantFrom(...valNames)
const anyPrivacy: fc.Arbitrary<Privacy> = fc.constantFrom(
  "public",
  "public",
  "public",
  "public",
  "unlisted",
  "private",
)
const anyReadme = fc.constantFrom(null, "", "About alpha", "Calls f(x) => y, see [beta](beta)", "1")
const anyType = fc.constantFrom("http", "script", "interval", "email", "httpnext", "express")
export const anyPage: fc.Arbitrary<PageOf> = fc.record(
  { limit: fc.integer({ min: 1, max: 5 }), offset: fc.integer({ min: 0, max: 6 }) },
  { requiredKeys: [] },
)

/** What of a val is sent, as it is sent. */
export interface SentFields {
  readonly name?: string
  readonly privacy?: Privacy
  readonly readme?: string | null
  readonly type?: string
}

const fields = { name: anyName, privacy: anyPrivacy, readme: anyReadme, type: anyType }

export const anyFields: fc.Arbitrary<SentFields> = fc.record(fields, { requiredKeys: [] })

/** Mostly with a privacy: without one a val is private, and others have nothing to do with it. */
export const anyNewFields: fc.Arbitrary<SentFields> = fc.oneof(
  { weight: 4, arbitrary: fc.record(fields, { requiredKeys: ["privacy"] }) },
  { weight: 1, arbitrary: anyFields },
)

/** Two older names of `http` are understood. */
export function toFields({ type, ...fields }: SentFields): ValFields {
  return {
    ...fields,
    type: type === "httpnext" || type === "express" ? "http" : (type as ValType | undefined),
  }
}

/** How an import is written: where the address begins, and the statement around it. */
const addressForms = ["base", "esm", "pinned", "shouted", "rooted", "relative"] as const
const statements = [
  "side effect",
  "names",
  "again",
  "dynamic",
  "type only",
  "comment",
  "text",
] as const

interface SymbolicImport {
  readonly user: number
  readonly name: string
  readonly form: (typeof addressForms)[number]
  readonly statement: (typeof statements)[number]
}

/** Code whose imports name users by number, since each sequence has users of its own. */
export interface SymbolicCode {
  readonly imports: readonly SymbolicImport[]
  readonly rest: string
}

const anyImport: fc.Arbitrary<SymbolicImport> = fc.record({
  user: userSlot,
  name: anyName,
  form: fc.constantFrom(...addressForms),
  statement: fc.constantFrom("side effect", ...statements),
})

/** Few different ones, so that the same code is saved twice. */
export const anyCode: fc.Arbitrary<SymbolicCode> = fc.record({
  imports: fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(anyImport, { minLength: 1, maxLength: 3 }) },
  ),
  rest: fc.constantFrom("1", "2", "\n", "export const f = (a) => a.b(1)", 'console.log("Héllo")'),
})

/** The code as the owner sends it. */
export function writeCode(
  model: Model,
  owner: TestUser | undefined,
  { imports, rest }: SymbolicCode,
): Code {
  const lines: string[] = []
  const imported: string[] = []
  for (const [index, one] of imports.entries()) {
    const username =
      one.form === "relative"
        ? (owner ?? userOf(model, 0)).username
        : userOf(model, one.user).username
    lines.push(writeStatement(one.statement, writeAddress(one.form, username, one.name), index))
    if (!["type only", "comment", "text"].includes(one.statement))
      imported.push(addressOf(username, one.name))
  }
  return { text: [...lines, rest].join("\n"), imports: imported }
}

function writeAddress(form: SymbolicImport["form"], username: string, name: string): string {
  if (form === "esm") return `https://esm.town/v/${username}/${name}`
  if (form === "pinned") return `${testBaseUrl}/v/@${username}/${name}@1`
  if (form === "shouted") return `${testBaseUrl}/v/${username.toUpperCase()}/${name.toUpperCase()}`
  if (form === "rooted") return `/v/${username}/${name}`
  if (form === "relative") return `./${name}`
  return `${testBaseUrl}/v/${username}/${name}`
}

function writeStatement(
  statement: SymbolicImport["statement"],
  address: string,
  index: number,
): string {
  if (statement === "names") return `import { x as x${index} } from "${address}"`
  if (statement === "again") return `export * as y${index} from "${address}"`
  if (statement === "dynamic") return `await import("${address}")`
  if (statement === "type only") return `import type { T as T${index} } from "${address}"`
  if (statement === "comment") return `// import "${address}"`
  if (statement === "text") return `const text${index} = 'import "${address}"'`
  return `import "${address}"`
}

/** How the caller says which version of the val they have seen. */
export const anyIfMatch = fc.oneof(
  { weight: 12, arbitrary: fc.constant("none" as const) },
  { weight: 3, arbitrary: fc.constantFrom("current", "etag", "any") },
  { weight: 1, arbitrary: fc.constantFrom("older", "newer") },
)
export type IfMatch = "none" | "current" | "etag" | "any" | "older" | "newer"

/** The header, and the version that it asks for. */
export function writeIfMatch(
  kind: IfMatch,
  val: ModelVal | undefined,
): { headers: Record<string, string>; version: number | undefined } {
  if (kind === "none") return { headers: {}, version: undefined }
  if (kind === "any") return { headers: { "if-match": "*" }, version: undefined }
  const current = val ? currentOf(val).version : 1
  const version = kind === "older" ? current - 1 : kind === "newer" ? current + 1 : current
  return { headers: { "if-match": kind === "etag" ? `"${version}-abc"` : `"${version}"` }, version }
}

function userOf(model: Model, index: number): TestUser {
  const user = model.users[index]
  if (!user) throw new Error(`the model has no user ${index}`)
  return user
}

export function viewerOf(model: Model, index: number | undefined): Viewer {
  return index === undefined ? undefined : userOf(model, index)
}

/** Who acts on the val with that id; a val that is gone has no owner any more. */
export function actorOf(model: Model, actor: Actor, valId: string): Viewer {
  if (actor !== "owner") return viewerOf(model, actor)
  return model.vals.find((val) => val.id === valId)?.owner ?? userOf(model, 0)
}

/** One of the list. */
function pick<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length]
  if (item === undefined) throw new Error("the model has nothing to pick from")
  return item
}

/** Mostly one of what there is now; sometimes one of all there ever was, or could be. */
export function pickMostly<Item>(now: readonly Item[], ever: readonly Item[], index: number): Item {
  return pick(index % 10 === 0 || now.length === 0 ? ever : now, Math.floor(index / 10))
}

/** The id of some val. */
export function pickVal(model: Model, index: number): string {
  return pickMostly(
    model.vals.map((val) => val.id),
    model.valIds,
    index,
  )
}
