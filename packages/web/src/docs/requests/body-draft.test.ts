import { describe, expect, test } from "bun:test"
import { realApi, realOperation } from "../../../test/support/real-api.ts"
import type { RequestBody } from "../operations/api.ts"
import {
  type BodyDraft,
  bodyModes,
  exampleFields,
  jsonContent,
  switchBodyMode,
  toBodyText,
} from "./body-draft.ts"

const { schemas } = realApi
const empty: BodyDraft = { mode: "fields", fields: {}, json: "", text: "" }

function bodyOf(id: string): RequestBody {
  return realOperation(id).body as RequestBody
}

function sent(id: string, draft: Partial<BodyDraft>, isFilled = false) {
  return JSON.parse(
    toBodyText(schemas, bodyOf(id), { ...empty, ...draft }, isFilled)?.text ?? "null",
  )
}

describe("toBodyText", () => {
  test("sends only the typed fields", () => {
    expect(sent("createVal", { fields: { code: "x", privacy: "public", name: "" } })).toEqual({
      code: "x",
      privacy: "public",
    })
    expect(sent("createVal", {})).toEqual({})
  })

  test("sends an empty string for a required field that allows it", () => {
    expect(sent("putSecret", {})).toEqual({ value: "" })
  })

  test("fills in required fields, or all where none is required", () => {
    expect(Object.keys(sent("createVal", {}, true))).toEqual(["code"])
    expect(Object.keys(sent("updateVal", {}, true))).toEqual([
      "name",
      "description",
      "imageUrl",
      "readme",
      "privacy",
      "type",
    ])
    expect(sent("updateVal", { fields: { name: "other" } }, true)).toEqual({ name: "other" })
  })

  test("sends JSON and text unchanged", () => {
    const body = bodyOf("createVal")
    expect(toBodyText(schemas, body, { ...empty, mode: "json", json: "{ broken" }, false)).toEqual({
      contentType: "application/json",
      text: "{ broken",
    })
    expect(toBodyText(schemas, body, { ...empty, mode: "text", text: "@file" }, true)).toEqual({
      contentType: "text/plain",
      text: "@file",
    })
  })
})

describe("switchBodyMode", () => {
  test("keeps the content, there and back", () => {
    const typed: BodyDraft = { ...empty, fields: { name: "ci", scopes: "val:read\nval:write" } }
    const json = switchBodyMode(schemas, bodyOf("createToken"), typed, "json")
    expect(JSON.parse(json?.json ?? "")).toEqual({ name: "ci", scopes: ["val:read", "val:write"] })
    expect(
      switchBodyMode(schemas, bodyOf("createToken"), json as BodyDraft, "fields")?.fields,
    ).toEqual(typed.fields)
  })

  test.each(['{"code":"x","readme":null}', '{"code":"x","other":1}', "[1]", "{"])(
    "refuses to lose a part of %s",
    (json) => {
      expect(
        switchBodyMode(schemas, bodyOf("createVal"), { ...empty, mode: "json", json }, "fields"),
      ).toBeUndefined()
    },
  )
})

test("exampleFields creates a valid body", () => {
  const fields = exampleFields(schemas, jsonContent(bodyOf("createToken"))?.schema ?? {})
  expect(sent("createToken", { fields })).toEqual({ name: "hello", scopes: ["val:read"] })
})

test("bodyModes lists the modes of the operation", () => {
  expect(bodyModes(schemas, bodyOf("createVal"))).toEqual(["fields", "json", "text"])
  expect(bodyModes(schemas, bodyOf("createComment"))).toEqual(["fields", "json"])
})
