import { expect, test } from "bun:test"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeModule } from "./module-cache.ts"

test("writeModule writes only inside of the cache, whatever the address", () => {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-cache-test-"))
  const bad = [
    "http://../x",
    "http://..",
    "http://./x",
    "file:///etc/passwd",
    "data:,x",
    "x",
    "http://a..b/x",
    "http://%2e%2e/x",
  ]
  for (const url of bad)
    expect(() => writeModule(join(folder, "cache"), { url, code: "" })).toThrow("Cannot put module")
  expect(readdirSync(folder)).toEqual([])
  const good = [
    "http://localhost:8080/v/../../../x",
    "https://esm.town/x?y=../..",
    "http://[::1]:80/",
    "http://A.Example:81/x",
  ]
  for (const url of good) writeModule(join(folder, "cache"), { url, code: "" })
  const found = readdirSync(folder, { recursive: true }).filter((name) =>
    /\/[0-9a-f]{64}$/.test(String(name)),
  )
  expect(found.map((name) => String(name).split("/").slice(0, -1).join("/")).sort()).toEqual([
    "cache/remote/http/[::1]",
    "cache/remote/http/a.example_PORT81",
    "cache/remote/http/localhost_PORT8080",
    "cache/remote/https/esm.town",
  ])
  rmSync(folder, { recursive: true })
})
