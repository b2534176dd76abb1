import { expect, test } from "bun:test"
import { parseGuestMessage } from "./guest-message.ts"

const error = { name: "Error", message: "m", stack: "s" }
const good = [
  { kind: "warm" },
  { kind: "pong" },
  { kind: "loaded", isCallable: false },
  { kind: "load_failed", error },
  { kind: "load_failed", error: { name: "n", message: "m" } },
  { kind: "log", run: "r", at: 1, level: "warn", message: "" },
  { kind: "logs_skipped", run: "r", lines: 3 },
  { kind: "uncaught", run: "r", error },
  { kind: "read_file", id: 1, path: "a.ts" },
  { kind: "read_file", id: 2, path: null },
  { kind: "refused", run: "r", status: 404, headers: [["a", "b"]], body: "" },
]

test.each(good)("parseGuestMessage accepts %j, and drops unknown fields", (message) => {
  expect(parseGuestMessage(JSON.stringify({ ...message, more: { of: "it" } })) as unknown).toEqual(
    message,
  )
})

const bad = [
  "",
  "{",
  "null",
  "1",
  '"warm"',
  "[]",
  "{}",
  '{"kind":"load"}',
  '{"kind":"__proto__"}',
  "\u0000",
  ...[
    { kind: "loaded" },
    { kind: "load_failed", error: null },
    { kind: "load_failed", error: { name: 1, message: "" } },
    { kind: "load_failed", error: { ...error, stack: [] } },
    { kind: "log", run: "r", at: "1", level: "log", message: "" },
    { kind: "log", run: "r", at: 9e15, level: "log", message: "" },
    { kind: "log", run: "r", at: 1, level: "fatal", message: "" },
    { kind: "log", run: {}, at: 1, level: "log", message: "" },
    { kind: "log", run: "r", at: 1, level: "log", message: {} },
    { kind: "logs_skipped", run: "r" },
    { kind: "logs_skipped", lines: 1 },
    { kind: "logs_skipped", run: "r", lines: 0 },
    { kind: "logs_skipped", run: "r", lines: 1.5 },
    { kind: "logs_skipped", run: "r", lines: 1e300 },
    { kind: "uncaught", run: "r" },
    { kind: "read_file", id: "1", path: null },
    { kind: "read_file", id: 1.5, path: null },
    { kind: "read_file", id: 1 },
    { kind: "read_file", id: 1, path: "a".repeat(1_001) },
    { kind: "refused", run: "r", status: 101, headers: [], body: "" },
    { kind: "refused", run: "r", status: 200.5, headers: [], body: "" },
    { kind: "refused", run: "r", status: 200, headers: [["a"]], body: "" },
    { kind: "refused", run: "r", status: 200, headers: [["a", 1]], body: "" },
    { kind: "refused", run: "r", status: 200, headers: {}, body: "" },
    { kind: "refused", run: "r", status: 200, headers: Array(1001).fill(["a", "b"]), body: "" },
  ].map((message) => JSON.stringify(message)),
  '{"kind":"log","run":"r","at":1e999,"level":"log","message":""}',
]

test.each(bad)("parseGuestMessage rejects %s", (line) => {
  expect(parseGuestMessage(line)).toBeUndefined()
})
