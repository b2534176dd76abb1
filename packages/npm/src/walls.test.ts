import { describe, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { findRuntimeFolder, hasBubblewrap, isGrouped, listGroups } from "@hamlet/sandbox/testing"
import { importOf, type OpenResolver, openResolver, runBundle } from "./testing/open-resolver.ts"
import { type TarEntry, toTarball } from "./testing/tarball.ts"

const levels = (["bubblewrap", "deno"] as const).filter(
  (level) => level === "deno" || hasBubblewrap,
)
if (!hasBubblewrap) notRun("the resolver in bubblewrap", "bubblewrap is not installed")
const mebibyte = 1024 ** 2

/**
 * What is there of resolutions: processes that name the folder of this server, folders, control
 * groups.
 */
function listTraces({ dataDir }: OpenResolver): string[] {
  const folder = findRuntimeFolder(dataDir)
  const own = readdirSync(folder).filter((name) => name.startsWith(`${process.pid}-`))
  const folders = own.flatMap((name) =>
    readdirSync(join(folder, name)).filter((entry) => /^s\d+$/.test(entry)),
  )
  const processes = readdirSync("/proc").filter(
    (name) => /^\d+$/.test(name) && readCommand(name).includes(`${folder}/`),
  )
  return [
    ...folders,
    ...processes.map((pid) => readCommand(pid).slice(0, 100)),
    ...own.flatMap(listGroups).filter((group) => /\/s\d+$/.test(group)),
  ]
}

/** A process that was killed together with another one may end a moment after it. */
async function untilGone(open: OpenResolver): Promise<void> {
  const traces = () => listTraces(open)
  await waitUntil(() => traces().length === 0, { what: "no traces", seen: traces })
}

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")
  } catch {
    // The process has ended.
    return ""
  }
}

describe.each(levels)("The resolver with %s", (isolation) => {
  test("bundles with a cache that V8 accepts, and leaves nothing behind", async () => {
    await using open = await openResolver({ isolation })
    open.registry.publish("good", "1.0.0", { "index.js": "exports.it = 'good'" })
    const resolved = await open.resolve("import 'npm:good'")
    expect(await runBundle(resolved, "return packages['npm:good'].it")).toBe("good")
    await untilGone(open)
  })

  test("ends a resolution that uses too much memory or disk", async () => {
    await using open = await openResolver({
      isolation,
      limits: { scratchBytesMax: 32 * mebibyte, fileBytesMax: 500 * mebibyte },
    })
    const large = { path: "package/large", content: new Uint8Array(100 * mebibyte) }
    open.registry.publishTarball(
      "bomb",
      "1.0.0",
      toTarball([{ path: "package/package.json", content: "{}" }, large]),
    )
    const resolved = await open.resolve("import 'npm:bomb'")
    expect(importOf(resolved, "npm:bomb").error).toStartWith("what it needs is larger than")
    expect(resolved.bundle).toBeNull()
    await untilGone(open)
  })

  test.each([true, false])(
    "ends what takes more memory than it may (control groups: %p)",
    async (usesCgroups) => {
      const memoryBytesMax = 150 * mebibyte
      await using open = await openResolver({ isolation, usesCgroups, limits: { memoryBytesMax } })
      open.registry.publish("large", "1.0.0", {
        "index.js": `exports.it = [${"1,".repeat(10 * mebibyte)}]`,
      })
      const resolved = await open.resolve("import 'npm:large'")
      expect(importOf(resolved, "npm:large").error).toBe(
        `resolving it takes more than ${memoryBytesMax} bytes of memory`,
      )
      expect(resolved.bundle).toBeNull()
      await untilGone(open)
    },
  )
})

// Without bubblewrap the tool has nothing but itself to rely on.
describe("The resolver behind Deno's permissions alone", () => {
  const isolation = "deno"

  test("runs no install script and no code of a package", async () => {
    await using open = await openResolver({ isolation })
    const folder = mkdtempSync(join(tmpdir(), "hamlet-scripts-"))
    Bun.spawnSync(["chmod", "777", folder])
    try {
      const touch = `touch ${folder}/ran`
      const scripts = { preinstall: touch, install: touch, postinstall: touch, prepare: touch }
      const index = `require("node:fs").writeFileSync(${JSON.stringify(`${folder}/ran`)}, "")`
      open.registry.publish(
        "eager",
        "1.0.0",
        { "index.js": index, "binding.gyp": "{}" },
        { scripts, hasInstallScript: true },
      )
      const resolved = await open.resolve("import 'npm:eager'")
      expect(importOf(resolved, "npm:eager").error).toBeNull()
      expect(readdirSync(folder)).toEqual([])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test("unpacks nothing outside of the package", async () => {
    await using open = await openResolver({ isolation })
    const folder = mkdtempSync(join(tmpdir(), "hamlet-outside-"))
    Bun.spawnSync(["chmod", "777", folder])
    try {
      const main = { path: "package/index.js", content: "exports.it = 'inside'" }
      const json = { path: "package/package.json", content: "{}" }
      const evil = [
        [{ path: `package/${"../".repeat(20)}${folder.slice(1)}/up`, content: "x" }],
        [{ path: `${folder}/absolute`, content: "x" }],
        [
          { path: "package/link", kind: "symlink" as const, target: folder },
          { path: "package/link/through", content: "x" },
        ],
        [{ path: "package/hard", kind: "hardlink" as const, target: "/etc/passwd" }],
      ]
      for (const [index, entries] of evil.entries()) {
        open.registry.publishTarball(`evil-${index}`, "1.0.0", toTarball([json, main, ...entries]))
        const resolved = await open.resolve(`import 'npm:evil-${index}'`)
        const { error } = importOf(resolved, `npm:evil-${index}`)
        if (error === null)
          expect(await runBundle(resolved, "return Object.values(packages)[0].it")).toBe("inside")
        expect(readdirSync(folder)).toEqual([])
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test("bundles no file of the machine, however a package imports it", async () => {
    await using open = await openResolver({ isolation })
    const folder = mkdtempSync(join(tmpdir(), "hamlet-secret-"))
    Bun.spawnSync(["chmod", "755", folder])
    const secret = join(folder, "secret.json")
    await Bun.write(secret, '{ "secret": "of the machine" }')
    try {
      const json = { path: "package/package.json", content: "{}" }
      const publish = (name: string, path: string, more: readonly TarEntry[] = []) => {
        const main = {
          path: "package/index.js",
          content: `exports.it = require(${JSON.stringify(path)})`,
        }
        open.registry.publishTarball(name, "1.0.0", toTarball([json, main, ...more]))
      }
      publish("absolute", secret)
      publish("relative", "../".repeat(20) + secret.slice(1))
      publish("linked", "./link/secret.json", [
        { path: "package/link", kind: "symlink", target: folder },
      ])
      publish("hard", "./secret.json", [
        { path: "package/secret.json", kind: "hardlink", target: secret },
      ])
      open.registry.serve("/module.ts", {
        headers: { "content-type": "text/typescript" },
        body: `import it from "file://${secret}" with { type: "json" }; export default it`,
      })
      const specifiers = [
        ...["absolute", "relative", "linked", "hard"].map((name) => `npm:${name}`),
        `${open.registry.url}module.ts`,
      ]
      const resolved = await open.resolve(
        specifiers.map((specifier) => `import "${specifier}"`).join("\n"),
      )
      // A missing module is an error of the import, or of the call of `require` when it is made.
      const { imports, bundle } = resolved
      expect(imports.at(-1)?.error).toBeString()
      expect(Buffer.from(bundle?.code ?? []).toString()).not.toContain("of the machine")
      expect(bundle?.files ?? null).toBeNull()
      for (const { specifier } of imports.filter(({ error }) => error === null))
        expect(
          await runBundle(resolved, `return packages["${specifier}"]`).catch(String),
        ).toContain("Cannot find module")
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe("The resolver", () => {
  const isolation = levels[0] ?? "deno"

  test("ends a resolution that takes too long, with all its processes", async () => {
    let seconds = 4
    const places = await waitUntil(async () => {
      const limits = { resolveMsMax: seconds * 1_000 }
      await using open = await openResolver({ isolation, limits })
      open.registry.serve("/npm/slow", () => new Promise(() => {}))
      const resolved = await open.resolve("import { it } from 'npm:slow'")
      expect(resolved).toMatchObject({ bundle: null, isTemporary: true })
      const { error, places } = importOf(resolved, "npm:slow")
      expect(error).toBe(`it could not be resolved within ${seconds} s`)
      await untilGone(open)
      // On a busy machine the tool may need longer until it has found the import.
      seconds *= 2
      return places.length > 0 && places
    })
    expect(places).toMatchObject([{ start: 19, end: 29 }])
  })

  test("ends when its signal aborts, and when the resolver stops", async () => {
    await using open = await openResolver({ isolation })
    const asked = () => open.registry.requests.length
    open.registry.serve("/npm/slow", () => new Promise(() => {}))
    const controller = new AbortController()
    const resolving = open.resolver
      .resolve({
        files: [{ path: "main.tsx", code: "import 'npm:slow'" }],
        given: null,
        accountId: "ada",
        signal: controller.signal,
      })
      .catch((error: unknown) => error)
    await waitUntil(() => asked() !== 0)
    controller.abort()
    expect(await resolving).toMatchObject({ name: "AbortError" })
    await untilGone(open)
    const another = open.resolve("import 'npm:slow'").catch((error: unknown) => error)
    await waitUntil(() => asked() !== 1)
    await open.resolver.stop()
    expect(await another).toMatchObject({ name: "AbortError" })
    expect(await open.resolve("import 'npm:slow'").catch((error: unknown) => error)).toMatchObject({
      name: "AbortError",
    })
    await untilGone(open)
  })

  test("limits the resolutions at the same time", async () => {
    await using open = await openResolver({ limits: { atOnceMax: 1 } })
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    open.registry.serve("/npm/slow", async () => {
      await answered
      return new Response("", { status: 404 })
    })
    open.registry.publish("good", "1.0.0", { "index.js": "exports.it = 1" })
    const ended: string[] = []
    const first = open.resolve("import 'npm:slow'").then(() => ended.push("first"))
    await waitUntil(() => open.registry.requests.length !== 0)
    const controller = new AbortController()
    const tired = open.resolver
      .resolve({
        files: [{ path: "main.tsx", code: "import 'npm:good'" }],
        given: null,
        accountId: "ada",
        signal: controller.signal,
      })
      .catch((error: unknown) => error)
    const second = open.resolve("import 'npm:good'").then(() => ended.push("second"))
    controller.abort()
    expect(await tired).toMatchObject({ name: "AbortError" })
    expect(open.registry.requests).toEqual(["/npm/slow"])
    answer()
    await Promise.all([first, second])
    expect(ended).toEqual(["first", "second"])
  })

  test("reports a tool that crashes, and lists what looks like an import as failed", async () => {
    await using open = await openResolver({ limits: { threadsMax: 1 } })
    if (!isGrouped(open.sandboxes, "processes"))
      return notRun("the crash of a resolver", "control groups cannot be used")
    const resolved = await open.resolve(
      "import 'npm:good'; import 'node:fs'; const text = 'npm:not, an import'; import './x.ts'",
    )
    expect(resolved.imports).toEqual([
      {
        specifier: "npm:good",
        places: [],
        resolved: null,
        error: expect.any(String),
        entry: -1,
        exports: [],
      },
    ])
    expect(resolved.bundle).toBeNull()
    open.errors.splice(0)
  })
})
