import { describe, expect, test } from "bun:test"
import type { z } from "zod"
import { limits } from "../limits.ts"
import { routes } from "../routes.ts"
import * as inputs from "./inputs.ts"

const val_id = "0190a6b1-7e3c-7c4d-8f5e-0123456789ab"

/** What the schema makes of one field, or why it refuses it. */
function read(schema: z.ZodObject, field: string, value: unknown, others: object = {}): unknown {
  const result = schema.safeParse({ ...others, [field]: value })
  return result.success
    ? { read: result.data[field] }
    : { refused: [...new Set(result.error.issues.map((issue) => issue.path.join(".")))] }
}

describe("limit and offset", () => {
  test("have defaults", () => {
    expect(inputs.pageQuery.parse({})).toEqual({ limit: 20, offset: 0 })
  })
  const good: [field: string, text: string, number: number][] = [
    ["limit", "1", 1],
    ["limit", "100", 100],
    ["limit", "007", 7],
    ["offset", "0", 0],
    ["offset", "101", 101],
    ["offset", "4294967296", 4294967296],
  ]
  for (const [field, text, number] of good) {
    test(`read ${field}=${text} as ${number}`, () =>
      expect(read(inputs.pageQuery, field, text)).toEqual({ read: number }))
  }
  const bad = [
    "",
    " ",
    "-1",
    "+1",
    "1.5",
    "1e1",
    "0x1",
    " 1",
    "1 ",
    "1\n",
    "1,2",
    "NaN",
    "Infinity",
    "twenty",
    "١",
    "9".repeat(400),
    ["1", "2"],
    null,
    1,
  ]
  for (const value of [...bad, "0", "101"]) {
    test(`refuse limit=${JSON.stringify(value).slice(0, 20)}`, () =>
      expect(read(inputs.pageQuery, "limit", value)).toEqual({ refused: ["limit"] }))
  }
  for (const value of bad) {
    test(`refuse offset=${JSON.stringify(value).slice(0, 20)}`, () =>
      expect(read(inputs.pageQuery, "offset", value)).toEqual({ refused: ["offset"] }))
  }
})

describe("since and until", () => {
  const good: [text: string, iso: string][] = [
    ["2024-02-29T12:30:45.678Z", "2024-02-29T12:30:45.678Z"],
    ["2024-02-29T12:30:45Z", "2024-02-29T12:30:45.000Z"],
    ["2024-02-29T12:30Z", "2024-02-29T12:30:00.000Z"],
    ["2024-02-29t12:30z", "2024-02-29T12:30:00.000Z"],
    ["2024-02-29T12:30:45.123456789Z", "2024-02-29T12:30:45.123Z"],
    ["2024-02-29T12:30:45,5Z", "2024-02-29T12:30:45.500Z"],
    ["2024-02-29T12:30:00+05:30", "2024-02-29T07:00:00.000Z"],
    ["2024-02-29T12:30:00+0530", "2024-02-29T07:00:00.000Z"],
    ["2024-02-29T12:30:00-05", "2024-02-29T17:30:00.000Z"],
    ["2024-02-29T12:30:00 05:30", "2024-02-29T07:00:00.000Z"],
    ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
    ["2024-02-29T12:30:45.678", "2024-02-29T12:30:45.678Z"],
    ["2024-02-29T12:30:45", "2024-02-29T12:30:45.000Z"],
    ["2024-02-29t12:30", "2024-02-29T12:30:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ]
  for (const [text, iso] of good) {
    test(`read "${text}" as ${iso}`, () => {
      expect(read(inputs.periodQuery, "since", text)).toEqual({ read: Date.parse(iso) })
      expect(read(inputs.periodQuery, "until", text)).toEqual({ read: Date.parse(iso) })
      expect(
        read(inputs.createTokenBody, "expiresAt", text, { name: "ci", scopes: ["val:read"] }),
      ).toEqual({ read: Date.parse(iso) })
    })
  }
  const bad = [
    "2023-02-29",
    "2024-02-30",
    "2024-02",
    "2024-02-29Z",
    "2024-02-29T",
    "2024-02-29T12Z",
    "2024-02-29 12:30:45Z",
    "2024-02-29T12:30:45.Z",
    "2024-02-29T12:30:45Z\n",
    "2024-13-01T00:00:00Z",
    "2024-01-32T00:00:00Z",
    "2024-01-01T25:00:00Z",
    "2024-01-01T00:60:00Z",
    "2024-01-01T00:00:00+99:99",
    "24-01-01T00:00:00Z",
    "1709209845678",
    "Thu, 29 Feb 2024 12:30:45 GMT",
    "yesterday",
    "",
    "2024-02-29T12:30:45.678Z".padEnd(99, "0"),
    ["2024-02-29T12:30Z"],
    null,
  ]
  for (const value of bad) {
    test(`refuse ${JSON.stringify(value).slice(0, 50)}`, () =>
      expect(read(inputs.periodQuery, "since", value)).toEqual({ refused: ["since"] }))
  }
})

describe("source and error", () => {
  const good: [value: unknown, sources: string[]][] = [
    ["api", ["api"]],
    ["api,ui", ["api", "ui"]],
    [
      ["api", "ui"],
      ["api", "ui"],
    ],
    [
      ["api,http", "http", "api"],
      ["api", "http"],
    ],
    [Array(50).fill("api"), ["api"]],
  ]
  for (const [value, sources] of good) {
    test(`read source=${JSON.stringify(value).slice(0, 40)}`, () =>
      expect(read(inputs.runsQuery, "source", value)).toEqual({ read: sources }))
  }
  for (const value of ["", "api,", ",", "API", "moon", "api ui", ["api", ""], 1]) {
    test(`refuse source=${JSON.stringify(value)}`, () =>
      expect(read(inputs.runsQuery, "source", value)).toMatchObject({
        refused: [expect.stringMatching(/^source/)],
      }))
  }
  test("read error as a boolean and refuse anything else", () => {
    for (const value of ["true", "True", "TRUE", "1"])
      expect(read(inputs.runsQuery, "error", value)).toEqual({ read: true })
    for (const value of ["false", "False", "fALSE", "0"])
      expect(read(inputs.runsQuery, "error", value)).toEqual({ read: false })
    for (const value of ["", "2", "01", "t", "yes", "true ", true, 1, ["true", "false"]])
      expect(read(inputs.runsQuery, "error", value)).toEqual({ refused: ["error"] })
  })
})

describe("text", () => {
  const fields: [
    title: string,
    schema: z.ZodObject,
    field: string,
    others: object,
    charsMax: number,
  ][] = [
    ["code", inputs.createValBody, "code", {}, limits.codeCharsMax],
    ["code of a version", inputs.createVersionBody, "code", {}, limits.codeCharsMax],
    ["code of a saved val", inputs.saveValBody, "code", { name: "hello" }, limits.codeCharsMax],
    ["readme", inputs.createValBody, "readme", { code: "1" }, limits.readmeCharsMax],
    ["comment", inputs.createCommentBody, "comment", {}, limits.commentCharsMax],
    ["query", inputs.searchQuery, "query", {}, limits.queryCharsMax],
    [
      "name of a token",
      inputs.createTokenBody,
      "name",
      { scopes: ["val:read"] },
      limits.tokenNameCharsMax,
    ],
    ["value of a secret", inputs.putSecretBody, "value", {}, limits.secretValueBytesMax],
  ]
  for (const [title, schema, field, others, charsMax] of fields) {
    test(`of a ${title} is kept unchanged, up to ${charsMax} characters`, () => {
      for (const value of ["\n", " é😀\u2028\r\n\ufeff", "x".repeat(charsMax)])
        expect(read(schema, field, value, others)).toEqual({ read: value })
      expect(read(schema, field, "x".repeat(charsMax + 1), others)).toEqual({ refused: [field] })
    })
    test(`of a ${title} has no NUL and no half of a surrogate pair`, () => {
      for (const value of ["a\0b", "\0", "\ud800", "a\udc00b", "\udc00\ud800"])
        expect(read(schema, field, value, others)).toEqual({ refused: [field] })
    })
  }
  test("counts a secret in bytes", () => {
    expect(
      read(inputs.putSecretBody, "value", "é".repeat(limits.secretValueBytesMax / 2)),
    ).toMatchObject({ read: expect.any(String) })
    expect(
      read(inputs.putSecretBody, "value", `x${"é".repeat(limits.secretValueBytesMax / 2)}`),
    ).toEqual({ refused: ["value"] })
  })
  test("of code, comments and queries is not empty", () => {
    expect(read(inputs.createValBody, "code", "")).toEqual({ refused: ["code"] })
    expect(read(inputs.createCommentBody, "comment", "")).toEqual({ refused: ["comment"] })
    expect(read(inputs.searchQuery, "query", "")).toEqual({ refused: ["query"] })
    expect(read(inputs.createValBody, "readme", "", { code: "1" })).toEqual({ read: "" })
  })
})

describe("names, ids and versions", () => {
  test("of vals are letters, digits, - and _, beginning with a letter", () => {
    for (const name of ["a", "A_1", "a-b", "x".repeat(limits.nameCharsMax)])
      expect(read(inputs.createValBody, "name", name, { code: "1" })).toEqual({ read: name })
    for (const name of [
      "",
      "1a",
      "_a",
      "-a",
      "a b",
      "a\n",
      "é",
      "a\0",
      "x".repeat(limits.nameCharsMax + 1),
      null,
    ]) {
      expect(read(inputs.createValBody, "name", name, { code: "1" })).toEqual({ refused: ["name"] })
    }
    expect(
      read(inputs.createUserBody, "username", "x".repeat(limits.usernameCharsMax + 1)),
    ).toEqual({ refused: ["username"] })
  })
  test("of a path are a UUID and an integer", () => {
    const { params } = routes.getVersion
    expect(params.parse({ val_id: val_id.toUpperCase(), version: "0" })).toEqual({
      val_id,
      version: 0,
    })
    for (const id of ["", "me", val_id.slice(1), `${val_id}0`, `{${val_id}}`])
      expect(read(params, "val_id", id, { version: "1" })).toEqual({ refused: ["val_id"] })
    for (const version of ["", "-1", "1.5", "latest", "1e3"])
      expect(read(params, "version", version, { val_id })).toEqual({
        refused: ["version"],
      })
  })
})

describe("bodies", () => {
  test("ignore unknown keys", () => {
    expect(inputs.createValBody.parse({ code: "1", moon: true })).toEqual({ code: "1" })
  })
  test("read the older names of http", () => {
    for (const type of ["http", "httpnext", "express"])
      expect(read(inputs.createValBody, "type", type, { code: "1" })).toEqual({ read: "http" })
    expect(read(inputs.createValBody, "type", "moon", { code: "1" })).toEqual({ refused: ["type"] })
  })
  test("of an update have at least one field", () => {
    expect(inputs.updateValBody.safeParse({}).success).toBe(false)
    expect(inputs.updateValBody.safeParse({ moon: 1 }).success).toBe(false)
    expect(inputs.updateValBody.parse({ readme: null })).toEqual({ readme: null })
  })
  test("of a token have each scope once, and only scopes that exist", () => {
    expect(
      read(inputs.createTokenBody, "scopes", ["val:read", "val:read"], { name: "ci" }),
    ).toEqual({ read: ["val:read"] })
    for (const scopes of [[], ["moon"], "val:read", null])
      expect(read(inputs.createTokenBody, "scopes", scopes, { name: "ci" })).toMatchObject({
        refused: [expect.any(String)],
      })
  })
  test("of a secret name hosts without scheme or path", () => {
    for (const host of ["example.com", "localhost:8080", "a"])
      expect(read(inputs.putSecretBody, "hosts", [host], { value: "v" })).toEqual({ read: [host] })
    for (const host of [
      "",
      "https://example.com",
      "example.com/",
      "-a",
      "a b",
      "a..b",
      "a:b",
      "é.com",
    ]) {
      expect(read(inputs.putSecretBody, "hosts", [host], { value: "v" })).toEqual({
        refused: ["hosts.0"],
      })
    }
  })
})
