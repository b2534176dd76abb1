import { describe, expect, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import { withTempTree } from "../temp-tree.ts"
import { completeBun, isInstalled } from "./packages.mjs"

const locked = {
  "": { version: "0.1.0" },
  "node_modules/hono": { version: "4.0.0", integrity: "sha512-a" },
  "node_modules/biome": { version: "2.0.0", integrity: "sha512-b", dev: true },
  "node_modules/biome-mac": { version: "2.0.0", integrity: "sha512-c", dev: true, optional: true },
}
const { "": _, "node_modules/biome-mac": __, ...installed } = locked
const { "node_modules/biome": ___, ...installedWithoutDev } = installed

const toLock = (packages: object) => JSON.stringify({ lockfileVersion: 3, packages })

function check(installedLock: string | undefined, wanted: { dev: boolean }): Promise<boolean> {
  const tree =
    installedLock === undefined ? {} : { "node_modules/.package-lock.json": installedLock }
  return withTempTree({ "package-lock.json": toLock(locked), ...tree }, (root) =>
    isInstalled(root, wanted),
  )
}

describe("completeBun", () => {
  const script = `require("node:fs").writeFileSync("bin/bun.exe", "x".repeat(1_000_000))`

  test("runs the install script that npm has left out, once", () =>
    withTempTree({ "bin/bun.exe": "exit 1", "install.js": script }, async (folder) => {
      const program = join(folder, "bin", "bun.exe")
      completeBun(program)
      const { size, mtimeMs } = statSync(program)
      expect(size).toBe(1_000_000)
      completeBun(program)
      expect(statSync(program).mtimeMs).toBe(mtimeMs)
    }))
})

describe("isInstalled", () => {
  test("is content when all but another platform's packages are there", async () => {
    expect(await check(toLock(installed), { dev: true })).toBe(true)
  })

  test("asks for an installation on a fresh clone", async () => {
    expect(await check(undefined, { dev: false })).toBe(false)
  })

  test("asks for an installation after one that was cut short", async () => {
    expect(await check(toLock(installed).slice(0, 50), { dev: false })).toBe(false)
  })

  test("asks for an installation when a version has changed", async () => {
    const older = { ...installed, "node_modules/hono": { version: "3.0.0", integrity: "sha512-z" } }
    expect(await check(toLock(older), { dev: false })).toBe(false)
  })

  test("asks for the development packages only where they are used", async () => {
    expect(await check(toLock(installedWithoutDev), { dev: false })).toBe(true)
    expect(await check(toLock(installedWithoutDev), { dev: true })).toBe(false)
  })
})
