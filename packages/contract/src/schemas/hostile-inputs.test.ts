import { expect, test } from "bun:test"
import type { z } from "zod"
import { toOpenApi } from "../openapi/openapi.ts"
import type { RouteDefinition } from "../route.ts"
import { routeNames, routes } from "../routes.ts"
import { emailBody } from "./email.ts"
import { importedVal } from "./import-vals.ts"
import { toIssueText } from "./issue-text.ts"

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

const document = toOpenApi({ baseUrl: "http://hamlet.test", version: "test" }) as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

/**
 * Objects that fail when they are taken for something else: compared, made a text or a number,
 * awaited, written as JSON.
 */
const hostileValues: readonly unknown[] = [
  ...[
    "length",
    "size",
    "toString",
    "valueOf",
    "toJSON",
    "then",
    "constructor",
    "includes",
    "isWellFormed",
    "split",
    "map",
  ].flatMap((name) => [
    { [name]: 1 },
    { [name]: null },
    { [name]: { toString: 1, valueOf: 1 } },
    { [name]: [[]] },
  ]),
  JSON.parse('{"__proto__":{"length":{"toString":1}}}'),
  JSON.parse(
    '{"length":{"toString":1},"size":{"toString":1},"toString":1,"valueOf":1,"toJSON":1,"then":1,"0":"a"}',
  ),
  [{ length: { toString: 1 } }],
  null,
  true,
  -1e308,
]

/** A hostile value in the place of everything that the schema names, one at a time. */
function* spoil(schema: Schema, hostile: unknown): Generator<unknown> {
  yield hostile
  yield { any: hostile }
  for (const one of schema.anyOf ?? []) yield* spoil(one, hostile)
  for (const [name, inner] of Object.entries(schema.properties ?? {}))
    for (const value of spoil(inner, hostile)) yield { [name]: value }
  for (const value of schema.items ? spoil(schema.items, hostile) : [hostile]) yield [value]
}

function expectRead(schema: z.ZodType, value: unknown): void {
  try {
    schema.safeParse(value)
  } catch (error) {
    throw new Error(`Cannot read ${JSON.stringify(value)}: ${error}`)
  }
}

const bodies = new Map(
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ operationId, requestBody }) => [
      operationId,
      requestBody?.content["application/json"]?.schema,
    ]),
)

const importedSchema = bodies.get("importVals")?.properties?.vals?.items ?? {}

for (const name of routeNames) {
  const route: RouteDefinition = routes[name]
  test(`${name} reads or refuses any value in the place of any of its fields`, () => {
    for (const hostile of hostileValues) {
      for (const schema of [route.params, route.query])
        for (const field of Object.keys(schema?.shape ?? {}))
          expectRead(schema as z.ZodType, { [field]: hostile })
      if (route.body)
        for (const value of spoil(bodies.get(name) ?? {}, hostile)) expectRead(route.body, value)
    }
  })
}

test("importedVal reads or refuses any value in the place of any of its fields", () => {
  expect(Object.keys(importedSchema.properties ?? {})).toContain("versions")
  for (const hostile of hostileValues)
    for (const value of spoil(importedSchema, hostile)) expectRead(importedVal, value)
})

/** What a person sends by mistake: nothing, too little, too much, something else. */
const mistakes: readonly unknown[] = [
  undefined,
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  "",
  "x",
  "\0",
  "\ud800",
  " ",
  "1",
  "x".repeat(300_000),
  [],
  {},
  [null],
  [{}],
  [[]],
  [["x", 1]],
  { "a b": "c" },
  { a: 1 },
  Array(20_000).fill("x"),
  Array(20_000).fill({}),
]

/** Words of the validator, of its types and of programs. */
const validatorWords =
  /invalid|expected |\breceived [a-z]|too (?:small|big)|unrecognized|guid\b|string|array|record|tuple|undefined|regex|pattern|nan\b|zod|\^/i

function toMessages(schema: z.ZodType, value: unknown): readonly string[] {
  const { error } = schema.safeParse(value, { error: toIssueText })
  return error?.issues.map(({ message }) => message) ?? []
}

for (const name of routeNames) {
  const route: RouteDefinition = routes[name]
  test(`${name} describes invalid input in plain words`, () => {
    const messages = new Set<string>()
    const note = (schema: z.ZodType, value: unknown) => {
      for (const message of toMessages(schema, value)) messages.add(message)
    }
    for (const mistake of [...mistakes, ...hostileValues]) {
      for (const schema of [route.params, route.query])
        for (const field of Object.keys(schema?.shape ?? {}))
          note(schema as z.ZodType, { [field]: mistake })
      if (route.body)
        for (const value of spoil(bodies.get(name) ?? {}, mistake)) note(route.body, value)
      if (name === "importVals")
        for (const value of spoil(importedSchema, mistake)) note(importedVal, value)
    }
    expect(
      [...messages].filter((message) => validatorWords.test(message.replace(/"[^"]*"/, ""))),
    ).toEqual([])
    expect(
      [...messages].filter((message) => !/^(?:must|is missing|has something wrong)/.test(message)),
    ).toEqual([])
  })
}

// A pattern that tries every way to divide the spaces would take hours.
test("the attachment of an email refuses a long text of spaces", () => {
  const read = (content: string) =>
    emailBody.safeParse({ attachments: [{ content, filename: "a" }] }).success
  for (const padding of ["", "=", "=="])
    expect(read(`${padding}${" ".repeat(1_000_000)}!`)).toBe(false)
  for (const content of ["", "aGk=", "aGk= \n", "a G\nk==", " "]) expect(read(content)).toBe(true)
  for (const content of ["a===", "a=b", "a= ="]) expect(read(content)).toBe(false)
})
