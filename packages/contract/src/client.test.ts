import { describe, expect, test } from "bun:test"
import { toSampleInput } from "../test/support/samples.ts"
import { startScriptedServer } from "../test/support/scripted-server.ts"
import { createClient } from "./client.ts"
import { hasIdempotencyKey, type RouteDefinition } from "./route.ts"
import { routeNames, routes } from "./routes.ts"

type AnyMethods = Record<string, (input?: object) => Promise<unknown>>
type AnyRawMethods = Record<
  string,
  (input?: object) => Promise<{ status: number; headers: Headers; body: unknown }>
>

describe("createClient, called once for every row of the route table,", () => {
  for (const name of routeNames) {
    const route: RouteDefinition = routes[name]
    const [status = 200, declared] =
      Object.entries(route.responses).map(([key, value]) => [Number(key), value] as const)[0] ?? []
    const isText = Array.isArray(declared)
    const answer = () =>
      new Response(declared === null ? null : isText ? "plain" : '{"kept":"as it is"}', {
        status,
        headers: { "x-request-id": "r1" },
      })

    test(`sends ${name} as ${route.method.toUpperCase()} ${route.path} and parses its response`, async () => {
      await using server = startScriptedServer(answer)
      const client = createClient({ baseUrl: server.url, token: "secret" })
      const input = toSampleInput(route)
      const answered = await (client as unknown as AnyMethods)[name]?.(input)
      const output = answered instanceof Response ? await answered.json() : answered

      const seen = server.seen[0]
      if (!seen) throw new Error("nothing arrived")
      expect(server.seen).toHaveLength(1)
      expect(seen.method).toBe(route.method.toUpperCase())
      expect(seen.headers.get("authorization")).toBe("Bearer secret")
      expect(seen.headers.has("idempotency-key")).toBe(hasIdempotencyKey(route))
      const type = route.isBytesBody ? input.contentType : route.body ? "application/json" : null
      expect(seen.headers.get("content-type")).toBe(type as string | null)

      // What arrived is in its place, and the schemas that the server checks with take it and lose
      // nothing.
      const params = readPath(route.path, seen.path)
      const query = Object.fromEntries(seen.query)
      const bytes = route.isBytesBody ? { content: seen.body, contentType: type } : {}
      const body = seen.body === "" || route.isBytesBody ? {} : JSON.parse(seen.body)
      expect(Object.keys(params).sort()).toEqual(Object.keys(route.params?.shape ?? {}).sort())
      expect(Object.keys(query).sort()).toEqual(Object.keys(route.query?.shape ?? {}).sort())
      expect({ ...params, ...query, ...body, ...bytes }).toEqual(asText({ ...input }, body))
      for (const [schema, value] of [
        [route.params, params],
        [route.query, query],
        [route.body, body],
      ] as const)
        schema?.parse(value)

      expect(output).toEqual(
        declared === null ? undefined : isText ? "plain" : { kept: "as it is" },
      )
    })

    test(`returns status, headers and body of ${name} through raw`, async () => {
      await using server = startScriptedServer(answer)
      const client = createClient({ baseUrl: `${server.url}/` })
      const raw = await (client.raw as unknown as AnyRawMethods)[name]?.(toSampleInput(route))
      expect(raw?.status).toBe(status)
      expect(raw?.headers.get("x-request-id")).toBe("r1")
      expect(server.seen[0]?.headers.has("authorization")).toBe(false)
    })
  }

  test("has a method for every row and nothing else but raw, pages, items and following", () => {
    const client = createClient({ baseUrl: "http://localhost" })
    expect(Object.keys(client).sort()).toEqual(
      [...routeNames, "follow", "followAccount", "items", "pages", "raw"].sort(),
    )
    expect(Object.keys(client.raw).sort()).toEqual([...routeNames].sort())
  })
})

describe("createClient", () => {
  test("appends paths to the path of its base URL", async () => {
    await using server = startScriptedServer(() => Response.json({}))
    await createClient({ baseUrl: `${server.url}/some/where//?x#y` }).getHealth()
    expect(server.seen[0]?.path).toBe("/some/where/healthz")
  })

  test("refuses a base URL without a scheme, which would be a URL of another kind", () => {
    expect(() => createClient({ baseUrl: "localhost:3000" })).toThrow(
      'Cannot create a client for "localhost:3000"',
    )
    expect(() => createClient({ baseUrl: "" })).toThrow()
  })

  test("refuses a token that is no header value, without quoting it", () => {
    for (const token of ["", "se cret", "secret\n", "sécret"]) {
      expect(() => createClient({ baseUrl: "http://localhost", token })).toThrow(
        /^Cannot create a client with this token: it is empty or contains characters that a header cannot carry$/,
      )
    }
  })

  test("does not contain its token when it is printed", () => {
    expect(
      Bun.inspect(createClient({ baseUrl: "http://localhost", token: "hush-hush" })),
    ).not.toContain("hush-hush")
  })
})

/** The parameters in a path, decoded. */
function readPath(template: string, path: string): Record<string, string> {
  const pattern = template.replaceAll(".", "\\.").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")
  const groups = new RegExp(`^${pattern}$`).exec(path)?.groups
  if (!groups && template !== path) throw new Error(`"${path}" is not "${template}"`)
  return Object.fromEntries(
    Object.entries(groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
  )
}

/** The input as it should arrive: moments in ISO-8601, and as text what is not in the JSON body. */
function asText(input: Record<string, unknown>, body: object): Record<string, unknown> {
  const entries = Object.entries(input).map(([name, value]) => {
    const plain = value instanceof Date ? value.toISOString() : value
    return [name, name in body ? plain : String(plain)]
  })
  return Object.fromEntries(entries)
}
