import { describe, expect, test } from "bun:test"
import { realApi, realOperation } from "../../../test/support/real-api.ts"
import { emptyDraft, findObstacle, toRequest } from "./request.ts"

const { schemas } = realApi

function request(id: string, parameters: Record<string, string>, isFilled = false) {
  const operation = realOperation(id)
  return toRequest(schemas, operation, { ...emptyDraft(schemas, operation), parameters }, isFilled)
}

describe("toRequest", () => {
  test("encodes values, so that each stays one segment or parameter", () => {
    expect(request("getUserByName", { "path username": "a/b?c#d%" }).path).toBe(
      "/v1/alias/a%2Fb%3Fc%23d%25",
    )
    expect(request("searchVals", { "query query": "a&b=c d" }).path).toBe(
      "/v1/search/vals?query=a%26b%3Dc%20d",
    )
  })

  test("does not interpret $& in a value", () => {
    expect(request("getUserByName", { "path username": "$&" }).path).toBe("/v1/alias/%24%26")
  })

  test("joins a list with commas", () => {
    expect(request("listMyRuns", { "query source": "ui\nhttp", "query limit": "5" }).path).toBe(
      "/v1/me/runs?limit=5&source=ui,http",
    )
  })

  test("uses examples for required parameters only when isFilled", () => {
    expect(request("getVersion", { "path version": "3" }, true).path).toBe(
      "/v1/vals/019a7c1e-52d0-7b3a-9f41-6d0c8e2b7a15/versions/3",
    )
    expect(request("getVersion", {}).path).toBe("/v1/vals/{val_id}/versions/{version}")
  })
})

describe("findObstacle", () => {
  test("reports missing path parameters", () => {
    expect(findObstacle(request("getVersion", { "path version": "3" }))).toBe(
      "Fill in val_id: it is part of the path",
    )
    expect(findObstacle(request("getUserByName", { "path username": "ada" }))).toBeUndefined()
  })

  test.each([".", ".."])("refuses %p, which would name another route", (username) => {
    expect(findObstacle(request("getUserByName", { "path username": username }))).toContain(
      "Change username",
    )
  })
})
