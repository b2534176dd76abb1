import { afterAll, expect, test } from "bun:test"
import { FakeRegistry } from "../support/fakes/fake-registry.ts"
import { describeAttacks } from "./support/describe-attacks.ts"

const registry = new FakeRegistry()
for (const name of ["of-ada", "of-bob"])
  registry.publish(name, "1.0.0", {
    "index.js": `exports.folder = __dirname; exports.text = require("fs").readFileSync(__dirname + "/data.txt", "utf8")`,
    "data.txt": `data ${name}`,
  })

/** Reads all that it can of packages, and tries to change it. */
const toCode = (name: string) => `import { folder, text } from "npm:${name}"
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

describeAttacks("attacks/package-files", { HAMLET_NPM_REGISTRY: registry.npmUrl }, (getServer) => {
  afterAll(() => registry.stop())

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
          files: [`data ${name}`],
          changes: Array(6).fill(expect.stringMatching(/^(?:NotCapable|NotFound)$/)),
        })
      }
  })
})
