import { describe, expect, test } from "bun:test"
import type { RunDetail } from "../followed-run.ts"
import {
  FieldError,
  hasCredentials,
  type ReplayFields,
  toReplayChanges,
  toReplayForm,
} from "./replay-form.ts"

const run = {
  source: "api",
  args: [1, "two"],
  request: null,
  requestContent: null,
  email: null,
  val: { version: 3 },
} as unknown as RunDetail
const content = {
  headers: [["accept", "text/plain"] as [string, string]],
  body: "hello",
  bytes: 5,
  isBinary: false,
  isTruncated: false,
}
const requested = {
  ...run,
  source: "http",
  args: null,
  request: { method: "POST", url: "http://ada-x.test/a?b=c", status: 200 },
  requestContent: content,
} as RunDetail

/** The changes of a form in which some fields were changed. */
function change(it: RunDetail, fields: Partial<ReplayFields>, isOwner = true) {
  const form = toReplayForm(it, isOwner)
  return toReplayChanges(form, { ...form.fields, ...fields })
}

describe("toReplayForm", () => {
  test("contains the recorded arguments or request, and the version", () => {
    expect(toReplayForm(run, true)).toMatchObject({
      kind: "args",
      fields: { args: '[\n  1,\n  "two"\n]', version: "3" },
    })
    expect(toReplayForm(requested, true)).toMatchObject({
      kind: "request",
      fields: { method: "POST", path: "/a?b=c", headers: "accept: text/plain", body: "hello" },
      isKept: true,
      hints: { headers: expect.stringContaining("are not kept with a run") },
    })
    expect(toReplayForm({ ...run, source: "interval" }, true).kind).toBe("version")
  })

  test.each([
    [{ ...content, body: null, isBinary: true }, "The binary body of 5 bytes is sent again"],
    [{ ...content, bytes: 99, isTruncated: true }, "The body was cut: this is the beginning of 99"],
    [{ ...content, body: "a [secret KEY]" }, "these words are sent"],
    [null, "too large to keep"],
  ])("explains what is kept of a body (%#)", (requestContent, text) => {
    expect(toReplayForm({ ...requested, requestContent }, true).hints.body).toContain(text)
  })

  test("explains that arguments are too long to show", () => {
    const form = toReplayForm({ ...run, args: "[1,… (cut)" }, true)
    expect([form.fields.args, form.hints.args]).toEqual([
      "",
      expect.stringContaining("too long to show"),
    ])
  })
})

describe("toReplayChanges", () => {
  test("has only what was changed", () => {
    expect(change(run, {})).toEqual({})
    expect(change(run, { args: "[2]" })).toEqual({ args: [2] })
    expect(change(run, { args: "", version: " 2 " })).toEqual({ args: [], version: 2 })
    expect(change(requested, {})).toEqual({})
    expect(change(requested, { path: "/x", body: "" })).toEqual({ path: "/x", body: "" })
    expect(change(requested, { headers: "x-a: 1\n\nx-b: 2" })).toEqual({
      headers: [
        ["x-a", "1"],
        ["x-b", "2"],
      ],
    })
  })

  test("has no body for a method without one", () => {
    expect(change(requested, { method: "GET", body: "typed before" })).toEqual({ method: "GET" })
  })

  test("has all of a request that is not kept, but not of one that another user may not see", () => {
    const unkept = { ...requested, requestContent: null }
    expect(change(unkept, { body: "new" })).toEqual({ path: "/a?b=c", headers: [], body: "new" })
    expect(change(unkept, { method: "GET" })).toEqual({
      method: "GET",
      path: "/a?b=c",
      headers: [],
    })
    expect(change(unkept, { path: "/x" }, false)).toEqual({ path: "/x" })
  })

  test.each([
    [run, { args: "[1" }, "args"],
    [requested, { headers: "nonsense" }, "headers"],
    [run, { version: "latest" }, "version"],
    [run, { version: "0" }, "version"],
  ] as const)("names the field that cannot be read (%#)", (it, fields, field) => {
    let found: unknown
    try {
      change(it, fields)
    } catch (error) {
      found = error
    }
    expect(found).toBeInstanceOf(FieldError)
    expect(found).toMatchObject({ field })
  })
})

test("hasCredentials finds what the server does not store", () => {
  expect(hasCredentials({ headers: [["Authorization", "x"]] })).toBe(true)
  expect(hasCredentials({ headers: [["x-api-key", "x"]] })).toBe(true)
  expect(hasCredentials({ headers: [["accept", "x"]] })).toBe(false)
  expect(hasCredentials({})).toBe(false)
})
