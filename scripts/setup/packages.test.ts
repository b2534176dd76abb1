import { describe, expect, spyOn, test } from "bun:test"
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { withTempTree } from "../temp-tree.ts"
import { completeBun, installPackages, isInstalled } from "./packages.mjs"

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

describe("installPackages", () => {
  /** Its `npm ci` fails as soon as there is a file `answered`. */
  const npm = `#!/bin/sh
if [ "$1" = config ]; then echo http://ada:hush@registry.example/; exit; fi
echo "$*" >"calls"
while [ ! -e answered ]; do /bin/sleep 0.05; done
echo "npm error network"
exit 7
`

  test("says from where it installs, that it still does, and why it failed", () =>
    withTempTree({ "bin/npm": npm }, async (folder) => {
      chmodSync(join(folder, "bin", "npm"), 0o755)
      const path = process.env.PATH
      process.env.PATH = join(folder, "bin")
      const said: string[] = []
      const reminded = Promise.withResolvers<void>()
      const spy = spyOn(console, "error").mockImplementation((text: string) => {
        said.push(text)
        if (text.startsWith("Still installing")) reminded.resolve()
      })
      try {
        const installed = installPackages(folder, { dev: false }, 10)
        await reminded.promise
        writeFileSync(join(folder, "answered"), "")
        expect(await installed).toBe(false)
      } finally {
        spy.mockRestore()
        process.env.PATH = path
      }
      expect(said[0]).toBe(
        "Installing the packages of package-lock.json with npm ci from http://registry.example/ …",
      )
      expect(said[1]).toMatch(/^Still installing from http:\/\/registry.example\/, for \d+ s …$/)
      expect(said.at(-1)).toBe(
        "npm error network\nCannot install the packages from http://registry.example/: npm ci ended with 7",
      )
      expect(readFileSync(join(folder, "calls"), "utf8")).toMatch(
        /^ci --omit=dev .*--fetch-retry-maxtimeout=/,
      )
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
