import { afterEach, describe, expect, test } from "bun:test"
import { packagesScript, packagesSymbol } from "../src/protocol.ts"
import { startGuest, stopVals } from "./support/vals.ts"

afterEach(stopVals)

const find = `globalThis[Symbol.for("${packagesSymbol}")]`

/**
 * Loads a val beside a bundle, whose hash stands where its code says HASH, and gives what a call of
 * it gives.
 */
async function run(bundle: string, code: string, cache?: Uint8Array) {
  const guest = await startGuest()
  const hash = guest.addBundle(bundle, cache)
  const message = await guest.load(code.replaceAll("HASH", `"${hash}"`), { isHttp: false })
  if (message.kind === "load_failed") return { error: message.error, hash }
  const { value, error } = await guest.call()
  return { value, error, hash }
}

describe("providePackages", () => {
  test("evaluates each package of a bundle once, when it is first imported", async () => {
    const bundle = `let times = 0; times += 1; globalThis.evaluated = times
      const first = { name: "first" }; module.exports = [() => first, () => ({ times, exports: exports === this })]`
    const code = `const before = globalThis.evaluated; const a = ${find}(HASH, 0), b = ${find}(HASH, 0), c = ${find}(HASH, 1)
      export default () => [before ?? null, a === b, a.name, c, globalThis.evaluated]`
    expect((await run(bundle, code)).value).toEqual([
      null,
      true,
      "first",
      { times: 1, exports: true },
      1,
    ])
  })

  test("uses V8's code cache", async () => {
    const toBundle = (text: string) => `const value = "${text}"; module.exports = [() => value]`
    // V8 looks at how long the text is, not at what it says, which shows here where the code comes
    // from.
    const { value } = await run(
      toBundle("compiled now"),
      `export default () => ${find}(HASH, 0)`,
      await makeCache(toBundle("from a cache")),
    )
    expect(value).toBe("from a cache")
  })

  test("compiles small packages without V8's code cache, which would take Node's modules", async () => {
    const guest = await startGuest({ isHurried: true })
    const bundle = `const value = () => { throw new Error("from a package") }; module.exports = [() => value]`
    const hash = guest.addBundle(bundle, new Uint8Array(0), "plain")
    await guest.load(`export default () => ${find}("${hash}", 0)()`, { isHttp: false })
    const error = await guest.callError()
    expect(error.message).toBe("from a package")
    expect(error.stack).toContain("packages:bundle.js:1:")
    const broken = await startGuest({ isHurried: true })
    const brokenHash = broken.addBundle("const =", undefined, "plain")
    expect(await broken.load(`${find}("${brokenHash}", 0)`)).toMatchObject({
      kind: "load_failed",
      error: { name: "SyntaxError" },
    })
  })

  test("uses V8's code cache when it matches, and works without it otherwise", async () => {
    const bundle = `const value = ${JSON.stringify("é😀\u2028".repeat(100))}; module.exports = [() => ({ value })]`
    const code = `export default () => ${find}(HASH, 0).value.length`
    for (const cache of [
      await makeCache(bundle),
      new Uint8Array(5_000),
      new Uint8Array(0),
      undefined,
    ])
      expect((await run(bundle, code, cache)).value).toBe(400)
  })

  test("lets packages require Node's built-ins, and reports missing modules", async () => {
    const bundle = `module.exports = [() => {
      const missing = []
      for (const name of ["left-pad", "node:nonsense", "./x", 3]) try { require(name) } catch (error) { missing.push(error.code + ": " + error.message) }
      return { join: require("path").join("a", "b"), same: require("fs") === require("node:fs"), missing }
    }]`
    const { value } = await run(bundle, `export default () => ${find}(HASH, 0)`)
    const missing = (name: string) =>
      `MODULE_NOT_FOUND: Cannot find module "${name}": no package of the val contains it, and it is not built in; the lockfile has a warning if its files were too large`
    expect(value).toEqual({
      join: "a/b",
      same: true,
      missing: ["left-pad", "node:nonsense", "./x", "3"].map(missing),
    })
  })

  test("refuses an invalid package", async () => {
    const asked = [
      `"../../etc/passwd", 0`,
      `"${"a".repeat(64)}\\n", 0`,
      `{ toString: () => HASH }, 0`,
      "HASH, 1",
      "HASH, -1",
      'HASH, "0"',
      "HASH, 0.5",
    ]
    const code = `export default () => [${asked.map((args) => `(() => { try { return ${find}(${args}) } catch (error) { return error.message } })()`)}]`
    const { value, hash } = await run("module.exports = [() => 1]", code)
    const unnamed = "Cannot find the package: it needs a hash and a number"
    const none = (entry: number) =>
      `Cannot find package ${entry} of ${hash}: the package does not exist`
    expect(value).toEqual([unnamed, unnamed, unnamed, none(1), none(-1), unnamed, unnamed])
  })

  test("cannot be seen, replaced or confused by a val", async () => {
    const code = `
      const symbol = Symbol.for("${packagesSymbol}"), real = globalThis[symbol]
      try { globalThis[symbol] = () => "replaced" } catch {}
      try { Object.defineProperty(globalThis, symbol, { value: 1 }) } catch {}
      Object.prototype.cachedData = "nonsense"; Object.prototype.filename = 3
      RegExp.prototype.exec = () => null; Array.isArray = () => false; String.prototype.at = null
      Deno.readFileSync = () => { throw new Error("replaced") }; process.getBuiltinModule = () => "replaced"
      export default () => [real === globalThis[symbol], Object.keys(globalThis).length === Reflect.ownKeys(globalThis).length, ${find}(HASH, 0).path]`
    const { value } = await run(
      `module.exports = [() => ({ path: require("path").join("a", "b") })]`,
      code,
    )
    expect(value).toEqual([true, false, "a/b"])
  })

  test("shows errors of packages without internal frames", async () => {
    const guest = await startGuest()
    const hash = guest.addBundle(
      `module.exports = [() => { throw new RangeError("no luck") }, () => ({ fail() { null.x } })]`,
    )
    const stub = (entry: number) => `http://localhost:8080/packages/${hash}/${entry}/npm:luck@1`
    guest.add({
      [stub(0)]: `export default ${find}("${hash}", 0)`,
      [stub(1)]: `const it = ${find}("${hash}", 1)\nexport { it as "fail" }`,
    })
    await guest.load(
      `
import { fail } from "${stub(1)}"
export default (which: string) => which === "load" ? import("${stub(0)}") : fail.fail()`,
      { isHttp: false },
    )
    const stackOf = async (which: string) => (await guest.callError([which])).stack?.split("\n")
    const column = expect.stringMatching(/^ {4}at (?:\S+ )?\(?packages:bundle\.js:1:\d+\)?$/)
    expect(await stackOf("load")).toEqual(["RangeError: no luck", column])
    expect(await stackOf("run")).toEqual([
      expect.stringContaining("TypeError"),
      column,
      expect.stringMatching(/^ {4}at .*ada\/hello\.tsx:3:\d+\)?$/),
    ])
  })

  test("reports the line that imports a missing package", async () => {
    const guest = await startGuest()
    const stub = "http://localhost:8080/packages/none/0-1-2/ada/hello.tsx:7:14/npm:luck@1"
    guest.add({ [stub]: `throw new TypeError("Cannot import it")` })
    const message = await guest.load(`import "${stub}"`)
    expect(message).toMatchObject({
      error: {
        message: "Cannot import it",
        stack: "TypeError: Cannot import it\n    at ada/hello.tsx:7:14",
      },
    })
  })

  test("names a package that lacks an export as the code does", async () => {
    const guest = await startGuest()
    const stub = `http://localhost:8080/packages/${"0".repeat(64)}/0/npm:@scope/luck@1`
    guest.add({ [stub]: "export const a = 1" })
    const message = await guest.load(`import { b } from "${stub}"\nexport default b`)
    expect(message).toMatchObject({
      error: {
        message:
          "The requested module 'npm:@scope/luck@1' does not provide an export named 'b' at ada/hello.tsx:1:10",
      },
    })
  })
})

/**
 * Makes the cache as the host does: the same text under the same name, compiled by the same Deno.
 */
async function makeCache(bundle: string): Promise<Uint8Array> {
  const { name, before, after } = packagesScript
  const guest = await startGuest()
  const code = `import { Script } from "node:vm"
    const script = new Script(${JSON.stringify(before + bundle + after)}, { filename: ${JSON.stringify(name)} })
    export default () => Array.from(script.createCachedData())`
  await guest.load(code, { isHttp: false })
  return new Uint8Array((await guest.call()).value as number[])
}
