import { expect, test } from "bun:test"
import { findRegistry } from "./find-registry.ts"

const publicRegistry = "https://registry.npmjs.org/"

test("findRegistry takes what npm says, with a slash at its end", async () => {
  expect(await findRegistry(["echo", "http://npm.example:4873"])).toBe("http://npm.example:4873/")
  expect(await findRegistry(["echo", "https://npm.example/path//"])).toBe(
    "https://npm.example/path/",
  )
})

test("findRegistry takes the public one where npm says nothing of use", async () => {
  for (const command of [
    ["echo", "undefined"],
    ["false"],
    ["echo", "file:///etc"],
    ["sh", "-c", "echo http://x; exit 1"],
    ["there-is-no-npm"],
  ])
    expect(await findRegistry(command)).toBe(publicRegistry)
})
