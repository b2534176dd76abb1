import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { leaveOutNeeding } from "./needs.mjs"
import { root } from "./root.mjs"

const withTls = "./packages/sandbox/src/egress/tls.test.ts"
const plain = "./packages/kit/src/time/loop.test.ts"

test("leaveOutNeeding takes out the files that a missing program keeps from being loaded", () => {
  const parts = [
    ["--timeout", "1", withTls, plain],
    ["--timeout", "1", withTls],
  ]
  expect(leaveOutNeeding(root, parts, ["openssl"])).toEqual({
    parts: [["--timeout", "1", plain]],
    leftOut: Array(2).fill(`${withTls.slice(2)}: openssl is not installed`),
  })
  expect(leaveOutNeeding(root, parts, ["nginx"])).toEqual({ parts, leftOut: [] })
})

test("leaveOutNeeding keeps a selection by name as it is", () => {
  const parts = [["--timeout", "1", "egress", "-t", "tls"]]
  expect(leaveOutNeeding(root, parts, ["openssl", "git"])).toEqual({ parts, leftOut: [] })
})

test("leaveOutNeeding knows every test file that makes certificates", () => {
  const files = ["kit", "http1", "sandbox", "npm", "owner-databases", "server"].flatMap((name) =>
    readdirSync(join(root, "packages", name), { recursive: true, encoding: "utf8" })
      .filter((path) => /\.test\.ts$/.test(path) && !path.includes("node_modules"))
      .map((path) => `packages/${name}/${path}`),
  )
  const making = files.filter((path) =>
    readFileSync(join(root, path), "utf8").includes("createAuthority("),
  )
  expect(making.length).toBeGreaterThan(7)
  const { parts } = leaveOutNeeding(root, [["--timeout", "1", ...making]], ["openssl"])
  expect(parts).toEqual([])
})
