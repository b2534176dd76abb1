import { expect, test } from "bun:test"
import { toOwnPath } from "./own-path.ts"

const origin = "http://localhost:8080"

test("toOwnPath keeps a path of this server", () => {
  expect(toOwnPath("/u/ada/hello?line=3", origin)).toBe("/u/ada/hello?line=3")
  expect(toOwnPath(`${origin}/runs`, origin)).toBe("/runs")
})

test("toOwnPath never leads to another host, and to no script", () => {
  for (const to of [
    null,
    "javascript:canary(1)",
    "//elsewhere.invalid",
    "/\\elsewhere.invalid",
    "/.//elsewhere.invalid",
    "http://[",
    "http://elsewhere.invalid/x",
    "data:text/html,x",
  ])
    expect(toOwnPath(to, origin)).toBe("/")
})
