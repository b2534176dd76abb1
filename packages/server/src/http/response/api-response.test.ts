import { expect, test } from "bun:test"
import { content, json, noContent } from "./api-response.ts"

test("json serializes the value and adds headers", () => {
  expect(json(201, { a: "ü\n" }, { location: "/x" })).toEqual({
    status: 201,
    headers: { "content-type": "application/json; charset=utf-8", location: "/x" },
    body: '{"a":"ü\\n"}',
  })
})

test("noContent has neither a body nor a content type", () => {
  expect(noContent()).toEqual({ status: 204, headers: {}, body: null })
})

test("content keeps bytes and text unchanged", () => {
  const bytes = new Uint8Array([1, 2])
  expect(content("image/png", bytes).body).toBe(bytes)
  expect(content("text/plain", "x", { etag: '"1"' })).toEqual({
    status: 200,
    headers: { "content-type": "text/plain", etag: '"1"' },
    body: "x",
  })
})
