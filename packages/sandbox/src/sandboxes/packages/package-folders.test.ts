import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { StoredBundle } from "../../program/stored-bundle.ts"
import { toStoredBundle } from "../../program/stored-bundle.ts"
import { type MadeBundle, toBundle } from "../testing/to-bundle.ts"
import { compressArchive, packFiles } from "./file-archive.ts"
import { PackageFolders } from "./package-folders.ts"

let folder: string
let folders: PackageFolders
let sandboxes = 0

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hamlet-folders-"))
  folders = new PackageFolders(join(folder, "files"))
})

afterEach(() => rmSync(folder, { recursive: true }))

/** The folder of a sandbox that was given the bundle. */
async function provide(bundle: StoredBundle): Promise<string> {
  const target = join(folder, `sandbox${sandboxes++}`)
  mkdirSync(target)
  await folders.provide(bundle, target)
  return target
}

/** A bundle that counts how often it is read. */
function counted(bundle: MadeBundle): StoredBundle & { reads: number } {
  const stored = toStoredBundle(bundle)
  const counting = {
    ...stored,
    reads: 0,
    read() {
      counting.reads++
      return stored.read()
    },
  }
  return counting
}

describe("PackageFolders", () => {
  test("reads a bundle once, and links it into each sandbox", async () => {
    const bundle = counted({ ...toBundle(["1"]), cache: new Uint8Array([1, 2]) })
    const [one, two] = await Promise.all([provide(bundle), provide(bundle)])
    const three = await provide(bundle)
    expect(bundle.reads).toBe(1)
    const { hash } = bundle
    for (const sandbox of [one, two, three]) {
      expect(readdirSync(sandbox).sort()).toEqual([`${hash}.cache`, `${hash}.js`])
      expect([...readFileSync(join(sandbox, `${hash}.cache`))]).toEqual([1, 2])
      expect(statSync(join(sandbox, `${hash}.js`)).nlink).toBe(4)
      expect(statSync(join(sandbox, `${hash}.js`)).mode & 0o777).toBe(0o644)
    }
  })

  test("links the files of packages, too", async () => {
    const list = { files: [["a/data.txt", 4] as const], links: [] }
    const archive = await compressArchive(packFiles(list, Buffer.from("data")) ?? Buffer.of())
    const bundle = toStoredBundle({ ...toBundle(["1"]), files: { read: async () => archive } })
    const sandbox = await provide(bundle)
    expect(readFileSync(join(sandbox, bundle.hash, "a/data.txt"), "utf8")).toBe("data")
    expect(readdirSync(sandbox).sort()).toEqual([bundle.hash, `${bundle.hash}.js`])
  })

  test("says which bundles are compiled without a code cache: small ones without Node", async () => {
    const isPlain = async (code: string) => {
      const target = join(folder, `sandbox${sandboxes++}`)
      mkdirSync(target)
      return (await folders.provide(toStoredBundle(toBundle([code])), target)).isPlain
    }
    expect(await isPlain("1")).toBe(true)
    expect(await isPlain('require("node:fs")')).toBe(false)
    expect(await isPlain("process.env.X")).toBe(false)
    expect(await isPlain(`"${"x".repeat(1024 ** 2)}"`)).toBe(false)
  })

  test("tries again after a failure, of which it leaves nothing", async () => {
    const bundle = toStoredBundle(toBundle(["1"]))
    const broken = { ...bundle, read: () => Promise.reject(new Error("no database")) }
    await expect(provide(broken)).rejects.toThrow("no database")
    const bad = { ...bundle, files: { read: async () => Buffer.from("not an archive") } }
    await expect(provide(bad)).rejects.toThrow()
    expect(readdirSync(await provide(bundle))).toEqual([`${bundle.hash}.js`])
  })

  test("removes the bundles that were not used for longest when they are too large", async () => {
    const large = Array.from({ length: 3 }, (_, index) => {
      const bundle = toStoredBundle(toBundle([`${index}`]))
      return { ...bundle, bytes: 100 * 1024 ** 2 }
    })
    const sandboxes = []
    for (const bundle of large) sandboxes.push(await provide(bundle))
    expect(readdirSync(join(folder, "files")).sort()).toEqual(["1", "2"])
    // A sandbox keeps what it was given.
    const [first] = large
    expect(readdirSync(sandboxes[0] ?? "")).toEqual([`${first?.hash}.js`])
    if (first) expect(readdirSync(await provide(first))).toEqual([`${first.hash}.js`])
  })
})
