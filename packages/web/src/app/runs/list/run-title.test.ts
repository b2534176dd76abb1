import { expect, test } from "bun:test"
import { isFailure, toRunText } from "./run-title.ts"

const val = { version: 3 } as never
const run = { request: null, mail: null, source: "api", status: "succeeded", val } as const
const request = { method: "GET", url: "http://ada-page.localhost:8080/a%20b?q=1", status: 200 }

test.each([
  [{ ...run, source: "http", request } as const, "GET /a%20b?q=1 → 200"],
  [
    { ...run, source: "http", request: { ...request, status: null }, status: "running" } as const,
    "GET /a%20b?q=1 → running",
  ],
  [{ ...run, source: "http", request: { ...request, url: "%" } } as const, "GET % → 200"],
  [
    { ...run, source: "http", request: { ...request, status: 101 }, status: "running" } as const,
    "WebSocket /a%20b?q=1 → open",
  ],
  [
    { ...run, source: "http", request: { ...request, status: 101 } } as const,
    "WebSocket /a%20b?q=1",
  ],
  [{ ...run, source: "interval", status: "timed_out" } as const, "Schedule → timed out"],
  [
    { ...run, source: "email", mail: { from: "a@b.c", subject: "Hello", isTest: false } } as const,
    "Mail from a@b.c: Hello",
  ],
  [
    { ...run, source: "email", mail: { from: "a@b.c", subject: "", isTest: false } } as const,
    "Mail from a@b.c",
  ],
  [{ ...run, val: { version: 0 } as never }, "Code without a val"],
  [{ ...run, source: "ui", status: "failed" } as const, "Run → failed"],
])("toRunText tells %#", (it, text) => expect(toRunText(it)).toBe(text))

test("isFailure is true for a failed run and for a response with an error of the server", () => {
  expect(isFailure({ ...run, status: "cancelled" })).toBe(true)
  expect(isFailure({ ...run, request: { ...request, status: 500 } })).toBe(true)
  expect(isFailure({ ...run, request: { ...request, status: 404 } })).toBe(false)
  expect(isFailure({ ...run, status: "running" })).toBe(false)
})
