import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { importOf, type OpenResolver, openResolver, runBundle } from "./testing/open-resolver.ts"
import { toTarball } from "./testing/tarball.ts"

const typescript = { "content-type": "text/typescript" }

let open: OpenResolver
let host: string

beforeAll(async () => {
  open = await openResolver()
  host = open.registry.host
  open.registry.publish("good", "1.0.0", { "index.js": "exports.it = 'good'" })
})

afterAll(async () => {
  await open[Symbol.asyncDispose]()
})

/** What is said of imports that stand beside a good one, which has to work all the same. */
async function explain(
  specifiers: readonly string[],
  attributes = "",
): Promise<{ errors: (string | null)[]; isTemporary: boolean }> {
  const lines = specifiers.map(
    (specifier, index) => `import * as bad${index} from "${specifier}"${attributes}`,
  )
  const resolved = await open.resolve(`${lines.join("\n")}\nimport good from "npm:good"`)
  expect(importOf(resolved, "npm:good")).toMatchObject({ error: null, resolved: "npm:good@1.0.0" })
  expect(await runBundle(resolved, "return packages['npm:good'].it")).toBe("good")
  const bad = specifiers.map((specifier) => importOf(resolved, specifier))
  for (const one of bad) expect(one).toMatchObject({ resolved: null, exports: [] })
  return { errors: bad.map(({ error }) => error), isTemporary: resolved.isTemporary }
}

describe("resolve says what is wrong with", () => {
  test("a package that does not exist, has no such version, or depends on such a package", async () => {
    const { registry } = open
    registry.publish("needs-absent", "1.0.0", { "index.js": "" }, { dependencies: { absent: "1" } })
    registry.publish("needs-newer", "1.0.0", { "index.js": "" }, { dependencies: { good: "^7" } })
    expect(
      await explain([
        "npm:absent",
        "npm:good@2",
        "npm:good@next",
        "npm:",
        "npm:needs-absent",
        "npm:needs-newer",
      ]),
    ).toEqual({
      errors: [
        'there is no package "absent" in the registry',
        'the registry has no version that fits "good@2"',
        'the registry has no version that fits "good@next"',
        "it does not name a package",
        'there is no package "absent" in the registry',
        'the registry has no version that fits "good@^7"',
      ],
      isTemporary: false,
    })
  })

  test("a missing part of a package", async () => {
    const { registry } = open
    registry.publish(
      "closed",
      "1.0.0",
      { "index.js": "", "inner.js": "" },
      { exports: { ".": "./index.js" } },
    )
    registry.publish(
      "forgetful",
      "1.0.0",
      { "index.js": "import './left-out.js'" },
      { type: "module" },
    )
    const { errors } = await explain(["npm:good/nope.js", "npm:closed/inner.js", "npm:forgetful"])
    const missing = ["good/nope.js", "closed/inner.js", "./left-out.js"]
    expect(errors).toEqual(
      missing.map((name) => `neither the registry nor the server has "${name}"`),
    )
  })

  test("a registry that sends invalid data", async () => {
    const { registry } = open
    registry.serve("/npm/nonsense", { body: "<html>" })
    registry.publish("broken", "1.0.0", {})
    registry.serve("/npm/broken/-/1.0.0.tgz", { body: "not what was promised" })
    registry.publishTarball("no-tarball", "1.0.0", new Uint8Array([1, 2, 3]))
    registry.publishTarball("empty", "1.0.0", toTarball([]))
    expect(await explain(["npm:nonsense", "npm:broken", "npm:no-tarball", "npm:empty"])).toEqual({
      errors: [
        `${host} sent an invalid response`,
        'the checksum of "broken@1.0.0" is not the one that the registry lists',
        expect.stringMatching(/^"no-tarball@1.0.0" cannot be unpacked: /),
        expect.any(String),
      ],
      isTemporary: false,
    })
  })

  test("a temporary failure of a registry or a server", async () => {
    const { registry } = open
    registry.serve("/npm/trouble", { status: 503 })
    registry.publish("lost", "1.0.0", {})
    registry.serve("/npm/lost/-/1.0.0.tgz", { status: 500 })
    registry.serve("/error.ts", { status: 500 })
    expect(await explain(["npm:trouble"])).toEqual({
      errors: [`${host} responded with 503`],
      isTemporary: true,
    })
    expect(await explain(["npm:lost"])).toEqual({
      errors: ['the registry, asked for "lost@1.0.0", responded with 500'],
      isTemporary: true,
    })
    expect(await explain([`${registry.url}error.ts`])).toEqual({
      errors: [`${host} responded with 500`],
      isTemporary: true,
    })
    expect(await explain(["http://127.0.0.1:1/x.ts"])).toEqual({
      errors: ["127.0.0.1:1 cannot be reached"],
      isTemporary: true,
    })
  })

  test("a module that its server refuses, or that is not a module", async () => {
    const { registry } = open
    registry.serve("/forbidden.ts", { status: 403 })
    registry.serve("/loop.ts", { status: 302, headers: { location: "/loop.ts" } })
    registry.serve("/page", { headers: { "content-type": "text/html" }, body: "<p>" })
    registry.serve("/deep.ts", { headers: typescript, body: "export * from './missing.ts'" })
    registry.serve("/bare.ts", { headers: typescript, body: "import 'lodash'" })
    registry.serve("/wrong.ts", { headers: typescript, body: "export const = 1" })
    const names = ["gone.ts", "forbidden.ts", "loop.ts", "page", "deep.ts", "bare.ts", "wrong.ts"]
    expect(await explain(names.map((name) => registry.url + name))).toEqual({
      errors: [
        `${host} responded with 404`,
        `${host} responded with 403`,
        "it has too many redirects",
        "it is neither JavaScript nor TypeScript",
        `it imports "${registry.url}missing.ts": ${host} responded with 404`,
        'it imports "lodash": it does not name a module',
        expect.stringMatching(/^its code cannot be parsed: /),
      ],
      isTemporary: false,
    })
  })

  test("a package of JSR", async () => {
    open.registry.publishJsr(
      "@scope/it",
      "1.2.3",
      { "/mod.ts": "export const a = 1" },
      { ".": "./mod.ts" },
    )
    const { errors } = await explain(["jsr:@scope/none", "jsr:@scope/it@2", "jsr:@scope/it/nope"])
    expect(errors).toEqual([
      'there is no package "@scope/none" in the registry',
      'the registry has no version that fits "@scope/it@2"',
      '"@scope/it@1.2.3" does not export "./nope"',
    ])
  })

  test("what cannot be bundled", async () => {
    const { registry } = open
    registry.publish(
      "wasm",
      "1.0.0",
      { "index.js": "import './it.wasm'", "it.wasm": "\0asm" },
      { type: "module" },
    )
    registry.publish("unreadable", "1.0.0", { "index.js": "export const = 1" }, { type: "module" })
    const { errors } = await explain(["npm:wasm", "npm:unreadable"])
    expect(errors).toEqual([
      "it needs a file of a kind that cannot be bundled (.wasm)",
      expect.stringMatching(/^it cannot be bundled: Expected identifier but found/),
    ])
    registry.serve("/text.txt", { headers: { "content-type": "text/plain" }, body: "hello" })
    const text = await explain([`${registry.url}text.txt`], ' with { type: "text" }')
    expect(text.errors).toEqual(['the import type "text" is not supported, only "json" is'])
  })
})

describe("resolve, when all of it is too much,", () => {
  test("fails every import", async () => {
    await using small = await openResolver({
      limits: { bundleBytesMax: 2_000, packagesMax: 3, modulesMax: 4 },
    })
    const long = `exports.it = "${"x".repeat(3_000)}"`
    small.registry.publish("large", "1.0.0", { "index.js": long })
    small.registry.publish("little", "1.0.0", { "index.js": "exports.it = 1" })
    const errorsOf = async (code: string) =>
      (await small.resolve(code)).imports.map(({ error }) => error)
    const tooLarge = "all that the code imports is larger than 2000 bytes"
    expect(await errorsOf("import 'npm:large'; import 'npm:little'; import 'npm:absent'")).toEqual([
      tooLarge,
      tooLarge,
      'there is no package "absent" in the registry',
    ])
    small.registry.publish(
      "modular",
      "1.0.0",
      {
        "index.js": "import './a.js';import './b.js';import './c.js';import './d.js'",
        "a.js": "",
        "b.js": "",
        "c.js": "",
        "d.js": "",
      },
      { type: "module" },
    )
    expect(await errorsOf("import 'npm:modular'")).toEqual([
      "all that the code imports has more than 4 modules",
    ])
    small.registry.publish(
      "greedy",
      "1.0.0",
      { "index.js": "" },
      { dependencies: { large: "1", little: "1", modular: "1" } },
    )
    expect(await errorsOf("import 'npm:greedy'")).toEqual([
      "all that the code imports needs more than 3 packages",
    ])
  })
})
