import { expect, test } from "bun:test"
import { realApi, realOperation } from "../../../test/support/real-api.ts"
import { emptyDraft, toRequest } from "./request.ts"

function request(id: string, parameters: Record<string, string>) {
  const operation = realOperation(id)
  return toRequest(operation, { ...emptyDraft(realApi.components.schemas, operation), parameters })
}

test.each<[string, Record<string, string>, string]>([
  ["getUserByName", { "path username": "a/b?c#d%" }, "/v1/alias/a%2Fb%3Fc%23d%25"],
  ["searchVals", { "query query": "a&b=c d" }, "/v1/search/vals?query=a%26b%3Dc+d"],
  // In a replacement, `$&` would be what was found.
  ["getUserByName", { "path username": "$&" }, "/v1/alias/%24%26"],
  ["getVersion", { "path version": "3" }, "/v1/vals/{val_id}/versions/3"],
])("toRequest encodes the parameters of %s, so that each stays one part", (id, typed, path) => {
  expect(request(id, typed).path).toBe(path)
})

test("toRequest has the headers, and a body with its required fields", () => {
  const { headers, body } = request("createVal", { "header Idempotency-Key": "once" })
  expect(headers).toEqual([
    ["Content-Type", "application/json"],
    ["Idempotency-Key", "once"],
  ])
  expect(JSON.parse(body?.text ?? "")).toEqual({ code: "" })
  expect(request("deleteVal", {})).toMatchObject({ headers: [], body: undefined })
})
