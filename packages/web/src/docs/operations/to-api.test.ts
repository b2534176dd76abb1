import { describe, expect, test } from "bun:test"
import { routeNames } from "@hamlet/contract"
import { realApi, realOperation } from "../../../test/support/real-api.ts"
import { operationsOf } from "./api.ts"
import { toApi, toTitle } from "./to-api.ts"

describe("toApi", () => {
  test("finds every route of the table, once", () => {
    const ids = operationsOf(realApi).map((operation) => operation.id)
    expect(ids.toSorted()).toEqual([...routeNames].toSorted())
  })

  test("reads auth, scope, parameters, body and responses", () => {
    const operation = realOperation("createVersion")
    expect(operation).toMatchObject({
      method: "POST",
      path: "/v1/vals/{val_id}/versions",
      tag: "Versions",
      auth: "required",
      scope: "val:write",
    })
    expect(operation.description).toBe("")
    expect(operation.parameters.map(({ location, name }) => `${location} ${name}`)).toEqual([
      "path val_id",
      "header If-Match",
      "header Idempotency-Key",
    ])
    expect(operation.body?.contents.map((content) => content.contentType)).toEqual([
      "application/json",
      "text/plain",
    ])
    expect(operation.responses.find((response) => response.status === "412")?.codes).toEqual([
      "version_conflict",
    ])
    expect(realOperation("getVal").auth).toBe("optional")
    expect(realOperation("getHealth").auth).toBe("none")
  })

  test("ignores paths that could lead to another host", () => {
    const get = { operationId: "x", responses: {} }
    const api = toApi({
      openapi: "3.1.0",
      paths: { "@evil.example/": { get }, "https://evil.example/": { get }, "/good": { get } },
    })
    expect(api && operationsOf(api).map((operation) => operation.path)).toEqual(["/good"])
  })

  test("refuses other documents than OpenAPI 3", () => {
    const others = [null, [], "text", {}, { openapi: "2.0", paths: {} }, { openapi: "3.1.0" }]
    expect(others.map(toApi)).toEqual(others.map(() => undefined))
  })

  test("accepts a document with fields of wrong types", () => {
    const operation = {
      operationId: 5,
      tags: "x",
      parameters: [null, 1, { name: "a", in: "cookie" }],
      requestBody: { content: [] },
      responses: { 200: null },
    }
    const api = toApi({
      openapi: "3.1.0",
      info: 1,
      tags: {},
      paths: { "/x": { get: operation, post: [] } },
      components: { schemas: [] },
    })
    expect(api && operationsOf(api)).toHaveLength(1)
  })
})

test("toTitle splits an operation id into words", () => {
  expect(["listMyRuns", "getOpenApi", "get_v1_me"].map(toTitle)).toEqual([
    "List my runs",
    "Get open API",
    "Get v1 me",
  ])
})
