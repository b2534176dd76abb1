import { afterAll, expect, test } from "bun:test"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { FakeRegistry, type TarEntry, toTarball } from "@hamlet/npm/testing"
import { describeAttacks } from "./support/describe-attacks.ts"

const registry = new FakeRegistry()
for (const name of ["of-ada", "of-bob"])
  registry.publish(name, "1.0.0", {
    "index.js": `exports.folder = __dirname; exports.text = require("fs").readFileSync(__dirname + "/data.txt", "utf8")`,
    "data.txt": `data ${name}`,
  })

/** Reads all that it can of packages, and tries to change it. */
const toCode = (name: string) => `import { folder, text } from "npm:${name}"
  import { createRequire } from "node:module"
  const attempt = (act: () => unknown) => { try { act(); return "done" } catch (error) { return error.name } }
  function* walk(path: string): Generator<string> {
    for (const entry of Deno.readDirSync(path))
      if (entry.isDirectory) yield* walk(path + "/" + entry.name)
      else yield path + "/" + entry.name
  }
  export default () => {
    const root = folder.slice(0, folder.indexOf("/packages/") + "/packages".length)
    const file = folder + "/data.txt"
    return {
      text,
      found: createRequire(import.meta.url).resolve("${name}/data.txt") === file,
      files: [...walk(root)].filter((path) => path.endsWith(".txt")).map((path) => Deno.readTextFileSync(path)),
      changes: [
        attempt(() => Deno.writeTextFileSync(file, "FORGED")),
        attempt(() => Deno.removeSync(file)),
        attempt(() => Deno.chmodSync(file, 0o777)),
        attempt(() => Deno.writeTextFileSync(folder + "/new.txt", "FORGED")),
        attempt(() => Deno.linkSync(file, "/tmp/link.txt")),
        attempt(() => Deno.readDirSync(root + "/../..")[Symbol.iterator]().next()),
      ],
    }
  }`

/** A folder of the machine in which anybody may write, with a file that is not for vals. */
const outside = mkdtempSync(join(tmpdir(), "hamlet-outside-"))
chmodSync(outside, 0o777)
writeFileSync(join(outside, "machine.txt"), "of the machine", { mode: 0o644 })
const up = `package/${"../".repeat(20)}${outside.slice(1)}`
const mebibyte = 1024 ** 2

/** Archives with tricks, by the name of the package. Each has a module that uses its location. */
const tricks: Readonly<Record<string, readonly TarEntry[]>> = {
  "climbs-up": [{ path: `${up}/up.txt`, content: "x" }],
  "is-absolute": [{ path: `${outside}/absolute.txt`, content: "x" }],
  "links-out": [
    { path: "package/link.txt", kind: "symlink", target: `${outside}/machine.txt` },
    { path: "package/hard.txt", kind: "hardlink", target: `${outside}/machine.txt` },
    { path: "package/folder", kind: "symlink", target: outside },
    { path: "package/folder/through.txt", content: "x" },
  ],
  "links-in-a-circle": [
    { path: "package/a", kind: "symlink", target: "b" },
    { path: "package/b", kind: "symlink", target: "a" },
    { path: "package/self", kind: "symlink", target: "." },
  ],
  "has-odd-names": [
    "new\nline",
    "back\\slash",
    "__proto__",
    "constructor",
    "-rf",
    "CON",
    "ä",
    "%2e%2e%2f",
    "x".repeat(80),
  ].map((name) => ({ path: `package/${name}.txt`, content: "odd" })),
  "has-two-of-a-name": [
    { path: "package/same.txt", content: "first" },
    { path: "package/same.txt", content: "second" },
    { path: "package/same.txt/below.txt", content: "third" },
  ],
  "has-10000-files": Array.from({ length: 10_000 }, (_, index) => ({
    path: `package/f/${index}.txt`,
    content: "x",
  })),
  "has-a-huge-file": [{ path: "package/huge.txt", content: new Uint8Array(60 * mebibyte) }],
  "claims-more": [{ path: "package/short.txt", content: "short", claimedBytes: 100 * mebibyte }],
  "claims-a-lot-more": [
    { path: "package/short.txt", content: "short", claimedBytes: 8 * 1024 ** 3 - 1 },
  ],
}

for (const [name, entries] of Object.entries(tricks))
  registry.publishTarball(
    name,
    "1.0.0",
    toTarball([
      { path: "package/package.json", content: JSON.stringify({ name, version: "1.0.0" }) },
      { path: "package/index.js", content: `exports.folder = __dirname; exports.it = "inside"` },
      ...entries,
    ]),
  )

/** Reads all files of its packages. */
const readerCode = `const names = ${JSON.stringify(Object.keys(tricks))}
  const imports = { ${Object.keys(tricks)
    .map((name) => `"${name}": () => import("npm:${name}")`)
    .join(", ")} }
  function* walk(path: string): Generator<string> {
    for (const entry of Deno.readDirSync(path))
      if (entry.isDirectory) yield* walk(path + "/" + entry.name)
      else yield path + "/" + entry.name
  }
  const read = (path: string) => { try { return Deno.readTextFileSync(path) } catch (error) { return error.name } }
  export default async () => {
    const found: Record<string, unknown> = {}
    for (const name of names)
      try {
        const { folder, it } = await imports[name]()
        const root = folder.slice(0, folder.indexOf("/packages/") + "/packages".length)
        const all = [...walk(root)]
        const texts = all.filter((path) => path.endsWith(".txt") && path.includes("/node_modules/" + name + "/"))
        found[name] = { it, count: texts.length, texts: [...new Set(texts.slice(0, 20).map(read))].sort() }
      } catch (error) {
        found[name] = error.message
      }
    return found
  }`

describeAttacks("attacks/package-files", { HAMLET_NPM_REGISTRY: registry.npmUrl }, (getServer) => {
  afterAll(async () => {
    await registry.stop()
    rmSync(outside, { recursive: true })
  })

  test("archives with tricks reach no file of the machine, and break nothing", async () => {
    const server = getServer()
    const val = await server.save(server.ada, { code: readerCode })
    const { json } = await server.request(val)
    const inside = (count: number, ...texts: string[]) => ({ it: "inside", count, texts })
    const refused = (name: string) =>
      expect.stringContaining(`Cannot import "npm:${name}": "${name}@1.0.0" cannot be unpacked: `)
    expect(json).toEqual({
      "climbs-up": refused("climbs-up"),
      "is-absolute": inside(1, "x"),
      // Links are not unpacked; the file behind one is in a folder of the package.
      "links-out": inside(1, "x"),
      "links-in-a-circle": inside(0),
      // All but the one that is not UTF-8.
      "has-odd-names": inside(8, "odd"),
      "has-two-of-a-name": refused("has-two-of-a-name"),
      // The files of a package that has too many, or too large ones, are left out.
      "has-10000-files": inside(0),
      "has-a-huge-file": inside(0),
      "claims-more": refused("claims-more"),
      "claims-a-lot-more": refused("claims-a-lot-more"),
    })
    expect(readdirSync(outside)).toEqual(["machine.txt"])
    expect(readFileSync(join(outside, "machine.txt"), "utf8")).toBe("of the machine")
  })

  test("a val reads the files of its own packages, and changes none", async () => {
    const server = getServer()
    const users = [
      { user: server.ada, name: "of-ada" },
      { user: server.bob, name: "of-bob" },
    ]
    const vals = await Promise.all(
      users.map(({ user, name }) => server.save(user, { code: toCode(name) })),
    )
    for (let round = 0; round < 2; round++)
      for (const [index, { name }] of users.entries()) {
        const val = vals[index]
        if (!val) throw new Error("there is no val")
        const { json } = await server.request(val)
        expect(json).toEqual({
          text: `data ${name}`,
          found: true,
          files: [`data ${name}`],
          changes: Array(6).fill(expect.stringMatching(/^(?:NotCapable|NotFound)$/)),
        })
      }
  })
})
