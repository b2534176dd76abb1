import { describe, expect, test } from "bun:test"
import type { LockedImport } from "./lockfiles.ts"
import { type LockedModule, linkPackages } from "./package-modules.ts"

const base = "http://hamlet.test"
const bundle = "a".repeat(64)
const none = new Map<string, string>()

/** A lock of every place where one of these stands in the code. */
function lock(
  code: string,
  specifiers: Readonly<Record<string, Partial<LockedImport>>>,
  more: Partial<LockedModule> = {},
): LockedModule {
  const imports = Object.entries(specifiers).map(([specifier, fields], entry) => {
    const places = [...code.matchAll(/(["'`])(?:\\\r?\n|(?!\1).)*\1/g)]
      .map(({ index, 0: text }) => ({ start: index, end: index + text.length, text }))
      .filter(({ text }) => text.slice(1, -1).replaceAll(/\\\r?\n/g, "") === specifier)
      .map(({ start, end }) => ({ start, end }))
    return {
      specifier,
      resolved: `${specifier}@1`,
      error: null,
      places,
      entry,
      exports: ["default"],
      ...fields,
    }
  })
  return {
    url: `${base}/v/ada/x@3-main/main.tsx`,
    code,
    branchId: "val",
    version: 3,
    path: "main.tsx",
    resolution: { imports, bundle },
    config: null,
    edits: [],
    ...more,
  }
}

const codeOf = (module: LockedModule) => linkPackages(base, [module], none).modules[0]?.code
const stubsOf = (modules: readonly LockedModule[], missing = none) =>
  Object.fromEntries(linkPackages(base, modules, missing).stubs.map(({ url, code }) => [url, code]))

/** What a stub exports and does, as a runtime would find out. */
async function evaluate(code: string, find: unknown): Promise<Record<string, unknown>> {
  Object.defineProperty(globalThis, Symbol.for("hamlet.packages"), {
    value: find,
    configurable: true,
  })
  return {
    ...(await import(`data:text/javascript,${encodeURIComponent(code)}//${crypto.randomUUID()}`)),
  }
}

describe("linkPackages", () => {
  test("replaces every occurrence of every specifier, and nothing else", () => {
    const code = `import a from "npm:a"; import { b } from 'npm:b'\n// 😀 "npm:a" é\nexport * from "npm:a"; const text = "npm:c"; import(\`npm:b\`)`
    const module = lock(code, { "npm:a": {}, "npm:b": {} })
    const [a, b] = [`"${base}/packages/${bundle}/0/npm:a"`, `"${base}/packages/${bundle}/1/npm:b"`]
    expect(codeOf(module)).toBe(
      `import a from ${a}; import { b } from ${b}\n// 😀 ${a} é\nexport * from ${a}; const text = "npm:c"; import(${b})`,
    )
  })

  test("keeps the line numbers", () => {
    const code = `import a from "npm:\\\na"\r\nimport b from 'npm:\\\r\nb'\nthrow 1`
    const linked = codeOf(lock(code, { "npm:a": {}, "npm:b": {} })) ?? ""
    const lineOf = (text: string) => text.slice(0, text.indexOf("throw")).split("\n").length
    expect(lineOf(linked)).toBe(lineOf(code))
    expect(linked).not.toContain("npm:\\")
  })

  test("does not change code at an invalid position", () => {
    const code = `import a from "npm:a"; 1`
    const odd = [
      { start: -3, end: 2 },
      { start: 14, end: 14 },
      { start: 20, end: 900 },
      { start: 5, end: 1 },
      { start: 900, end: 910 },
    ]
    expect(codeOf(lock(code, { "npm:a": { places: odd } }))).toBe(code)
    const overlapping = [
      { start: 14, end: 21 },
      { start: 15, end: 19 },
      { start: 14, end: 21 },
    ]
    expect(codeOf(lock(code, { "npm:a": { places: overlapping } }))).toBe(
      `import a from "${base}/packages/${bundle}/0/npm:a"; 1`,
    )
  })

  test("handles 15,000 imports", () => {
    const code = Array.from({ length: 15_000 }, () => `import("npm:a")`).join("\n")
    const failing = lock(code, { "npm:a": { error: "no such package" } })
    expect(codeOf(failing)?.match(/packages\/none/g)).toHaveLength(15_000)
  })

  test("gives the JSX import source an address to which the runtime can append", () => {
    const code = "/** @jsxImportSource npm:preact */\nexport default <p />"
    const start = code.indexOf("npm:preact")
    const places = [{ start, end: start + "npm:preact".length }]
    const module = lock(code, { "npm:preact/jsx-runtime": { places, exports: ["jsx"] } })
    const url = `${base}/packages/${bundle}/0/npm:preact`
    expect(codeOf(module)).toBe(`/** @jsxImportSource ${url} */\nexport default <p />`)
    expect(Object.keys(stubsOf([module]))).toEqual([`${url}/jsx-runtime`])
    const odd = lock(code, { "npm:preact": { places } })
    expect(codeOf(odd)).toBe(code)
  })

  const specifiers = [
    "npm:@scope/x@^1.2/deep",
    "https://esm.sh/a/../b?x=1#y",
    "https://x/./y",
    "npm:..",
    "jsr:@std/é 😀",
    "npm:a\n'\"`",
    "npm:\ud800",
    `npm:${"a".repeat(1000)}`,
  ]
  test.each(specifiers)("gives %p a stable address", (specifier) => {
    const module = lock(`import "x"`, { [specifier]: {} })
    const [url = ""] = Object.keys(stubsOf([module]))
    expect(new URL(url).href).toBe(url)
    expect(url).toStartWith(`${base}/packages/${bundle}/0/`)
    expect(url.length).toBeLessThan(1200)
  })

  describe("creates a stub that", () => {
    test("exports everything that the package exports, with any name", async () => {
      const exports = ["default", "z", "delete", "a-b", "😀", "__proto__", 'q"\\', "then"]
      const [stub = ""] = Object.values(
        stubsOf([lock(`import "npm:a"`, { "npm:a": { exports: [...exports, "\ud800"] } })]),
      )
      const asked: unknown[] = []
      const namespace = Object.fromEntries(
        exports.filter((name) => name !== "then").map((name) => [name, `the ${name}`]),
      )
      const found = await evaluate(stub, (...args: unknown[]) => {
        asked.push(args)
        return namespace
      })
      expect(asked).toEqual([[bundle, 0]])
      expect(Object.keys(found).sort()).toEqual([...exports].sort())
      expect(found).toMatchObject({
        default: "the default",
        delete: "the delete",
        "a-b": "the a-b",
        'q"\\': 'the q"\\',
      })
    })

    test("is shared by modules with the same bundle", () => {
      const one = lock(`import "npm:a"`, { "npm:a": { exports: ["x"] } })
      const two = lock(
        `import "npm:a"`,
        { "npm:a": { exports: ["y"] } },
        { branchId: "other", url: `${base}/v/ada/y` },
      )
      const stubs = stubsOf([one, two])
      expect(Object.keys(stubs)).toHaveLength(1)
      expect(Object.values(stubs)[0]).toContain(`export { e0 as "x", e1 as "y" }`)
    })

    test("reports that a Worker has no packages", async () => {
      const [stub = ""] = Object.values(stubsOf([lock(`import "npm:a"`, { "npm:a": {} })]))
      await expect(evaluate(stub, undefined)).rejects.toThrow(
        new TypeError(`Cannot import "npm:a": a Worker has no packages`),
      )
    })
  })

  describe("creates a stub for a missing package that", () => {
    const code = `\n  import x, { a as b, type C, "d e" as f } from "npm:nope"\nexport { g } from 'npm:nope'; import("npm:nope")`
    const failing = lock(code, {
      "npm:nope": { error: 'there is\nno "such" package', resolved: null, exports: [] },
    })

    test("throws, and has the position of the import in its address", async () => {
      const [[url, stub] = ["", ""]] = Object.entries(stubsOf([failing]))
      expect(url).toBe(`${base}/packages/none/val-3-0/ada/x.tsx:2:49/npm:nope`)
      const error = (await evaluate(stub, () => ({})).catch((thrown: unknown) => thrown)) as Error
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toBe(`Cannot import "npm:nope": there is\nno "such" package`)
    })

    test("exports every imported name, so that linking does not fail first", () => {
      const [stub = ""] = Object.values(stubsOf([failing]))
      for (const name of ["default", "a", "C", "d e", "g"])
        expect(stub).toContain(`as ${JSON.stringify(name)}`)
    })

    test("belongs to one module", () => {
      const other = { ...failing, version: 4 }
      expect(Object.keys(stubsOf([failing, other]))).toEqual([
        `${base}/packages/none/val-3-0/ada/x.tsx:2:49/npm:nope`,
        `${base}/packages/none/val-4-0/ada/x.tsx:2:49/npm:nope`,
      ])
    })

    test("reports why a bundle is missing", () => {
      const module = lock(`import "npm:a"`, { "npm:a": {} })
      expect(Object.values(stubsOf([module], new Map([[bundle, "it is too large"]])))[0]).toContain(
        "it is too large",
      )
      const empty = { ...module, resolution: { ...module.resolution, bundle: null } }
      expect(Object.values(stubsOf([empty]))[0]).toContain("it was not found")
    })
  })
})
