import { expect, test } from "bun:test"
import { findRegistry } from "./find-registry.ts"

const publicRegistry = "https://registry.npmjs.org/"

test("findRegistry returns the registry of npm, with a slash at its end", async () => {
  expect(await findRegistry(["echo", "http://npm.example:4873"])).toBe("http://npm.example:4873/")
  expect(await findRegistry(["echo", "https://npm.example/path//"])).toBe(
    "https://npm.example/path/",
  )
})

test("findRegistry returns the public registry when npm reports no valid one", async () => {
  for (const command of [
    ["echo", "undefined"],
    ["false"],
    ["echo", "file:///etc"],
    ["sh", "-c", "echo http://x; exit 1"],
    ["there-is-no-npm"],
  ])
    expect(await findRegistry(command)).toBe(publicRegistry)
})
