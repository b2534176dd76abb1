import { expect, test } from "bun:test"
import type { z } from "zod"
import { importedVal } from "./import-vals.ts"
import { toOpenApi } from "./openapi.ts"
import type { RouteDefinition } from "./route.ts"
import { routeNames, routes } from "./routes.ts"

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

/** Objects that fail when they are taken for something else: compared, made a text or a number, awaited, written as JSON. */
const hostileValues: readonly unknown[] = [
  ...["length", "size", "toString", "valueOf", "toJSON", "then", "constructor", "includes", "isWellFormed", "split", "map"].flatMap(
    (name) => [{ [name]: 1 }, { [name]: null }, { [name]: { toString: 1, valueOf: 1 } }, { [name]: [[]] }],
  ),
  JSON.parse('{"__proto__":{"length":{"toString":1}}}'),
  JSON.parse('{"length":{"toString":1},"size":{"toString":1},"toString":1,"valueOf":1,"toJSON":1,"then":1,"0":"a"}'),
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
  for (const [name, inner] of Object.entries(schema.properties ?? {})) for (const value of spoil(inner, hostile)) yield { [name]: value }
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
    .map(({ operationId, requestBody }) => [operationId, requestBody?.content["application/json"]?.schema]),
)

for (const name of routeNames) {
  const route: RouteDefinition = routes[name]
  test(`${name} reads or refuses any value in the place of any of its fields`, () => {
    for (const hostile of hostileValues) {
      for (const schema of [route.params, route.query])
        for (const field of Object.keys(schema?.shape ?? {})) expectRead(schema as z.ZodType, { [field]: hostile })
      if (route.body) for (const value of spoil(bodies.get(name) ?? {}, hostile)) expectRead(route.body, value)
    }
  })
}

test("importedVal reads or refuses any value in the place of any of its fields", () => {
  const schema = bodies.get("importVals")?.properties?.vals?.items ?? {}
  expect(Object.keys(schema.properties ?? {})).toContain("versions")
  for (const hostile of hostileValues) for (const value of spoil(schema, hostile)) expectRead(importedVal, value)
})
