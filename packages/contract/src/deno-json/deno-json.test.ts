import { describe, expect, test } from "bun:test"
import { toPragma } from "./compiler-settings.ts"
import { listConfigWarnings, readConfig } from "./deno-json.ts"
import { resolveMapped, toOwnPath } from "./import-map.ts"
import { toPlainJson } from "./json-with-comments.ts"

const read = (value: unknown) =>
  readConfig("deno.json", typeof value === "string" ? value : JSON.stringify(value))

function resolve(value: unknown, specifier: string, path = "main.tsx"): string | undefined {
  const { config } = read(value)
  return config && resolveMapped(config.map, specifier, path)
}

describe("toPlainJson", () => {
  test("removes comments and trailing commas, and nothing in strings", () => {
    const text = `{ // one
      "a//b": "/* c */", /* two
      */ "d": [1, 2, /* three */ ], "e\\"//": 1,
    }`
    expect(JSON.parse(toPlainJson(text))).toEqual({ "a//b": "/* c */", d: [1, 2], 'e"//': 1 })
  })

  test("joins no tokens, and leaves wrong JSON wrong", () => {
    for (const text of ["[1/**/2]", "[1,,2]", `{"a": "b`, "/* /* /*"])
      expect(() => JSON.parse(toPlainJson(text)), text).toThrow()
  })
})

describe("readConfig", () => {
  test("reads what counts, and ignores the rest", () => {
    const { config, warnings } = read({
      imports: { zod: "npm:zod@4" },
      compilerOptions: { jsx: "react-jsx", jsxImportSource: "preact", strict: false },
      tasks: { test: "rm -rf /" },
      lock: false,
    })
    expect(warnings).toEqual([])
    expect(config?.compiler).toEqual({ jsx: "automatic", importSource: "preact" })
    expect(read({ tasks: {}, fmt: { lineWidth: 80 } })).toEqual({ config: undefined, warnings: [] })
    expect(read("").warnings).toEqual([])
  })

  test("warns about what is wrong, and uses what is right", () => {
    for (const text of [
      "{",
      "[]",
      "null",
      "1",
      '"x"',
      "{imports: {}}",
      '{"imports": ',
      " ".repeat(40_000),
    ]) {
      const { config, warnings } = read(text)
      expect(config).toBeUndefined()
      expect(warnings, text.slice(0, 20)).toHaveLength(1)
      expect(warnings[0]).toStartWith("deno.json: it is ignored: ")
    }
    const { config, warnings } = read({
      imports: {
        a: 1,
        b: null,
        c: "lodash",
        "d/": "./d",
        e: "/etc/passwd",
        "": "./f.ts",
        g: "./g.ts",
      },
      scopes: [],
      compilerOptions: { jsx: 3, jsxImportSource: "*/ alert(1)", jsxFactory: "h(" },
    })
    expect(warnings).toHaveLength(10)
    expect(config && resolveMapped(config.map, "g", "main.tsx")).toBe("val:///g.ts")
    for (const key of ["a", "b", "c", "d/x", "e"])
      expect(config && resolveMapped(config.map, key, "main.tsx")).toBeUndefined()
    expect(config?.compiler).toBeUndefined()
  })

  test("is not confused by names of properties that all objects have", () => {
    const text = `{"__proto__": {"imports": {"x": "npm:x"}}, "imports": {"__proto__": "npm:p", "constructor": "npm:c"},
      "scopes": {"__proto__": {"toString": "npm:t"}}, "compilerOptions": {"__proto__": {"jsx": "react-jsx"}}}`
    expect(resolve(text, "__proto__")).toBe("npm:p")
    expect(resolve(text, "constructor")).toBe("npm:c")
    expect(resolve(text, "x")).toBeUndefined()
    expect(resolve(text, "hasOwnProperty")).toBeUndefined()
    expect(resolve(text, "toString", "__proto__")).toBe("npm:t")
    expect(read(text).config?.compiler).toBeUndefined()
    expect(({} as Record<string, unknown>).imports).toBeUndefined()
  })

  test("limits the number and the length of mappings, and of warnings", () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, at) => [`k${at}`, `npm:k${at}`]),
    )
    expect(resolve({ imports: many }, "k199")).toBe("npm:k199")
    expect(resolve({ imports: many }, "k200")).toBeUndefined()
    expect(read({ imports: many }).warnings).toHaveLength(1)
    const long = { ["a".repeat(201)]: "npm:a", b: `npm:${"b".repeat(1_000)}` }
    expect(read({ imports: long }).warnings).toHaveLength(2)
    expect(read({ imports: long }).warnings.join("").length).toBeLessThan(500)
    const wrong = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`k${at}`, 1]))
    expect(read({ imports: wrong }).warnings).toHaveLength(20)
  })
})

describe("listConfigWarnings", () => {
  test("says what does not count in a deno.json and in a package.json", () => {
    expect(listConfigWarnings("deno.json", `{"importMap": "./import_map.json"}`)).toEqual([
      "deno.json: importMap is ignored: only the imports in this file count",
    ])
    const dependencies = { zod: "^3.0.0", hono: "4" }
    expect(listConfigWarnings("package.json", JSON.stringify({ dependencies }))).toEqual([
      'package.json: its dependencies are ignored: a deno.json names packages, as in {"imports":{"zod":"npm:zod@^3.0.0"}}',
    ])
    for (const text of ["{}", "{", "[1]", `{"dependencies": {}}`, `{"dependencies": 3}`, "null"])
      expect(listConfigWarnings("package.json", text)).toEqual([])
    expect(listConfigWarnings("lib/package.json", JSON.stringify({ dependencies }))).toEqual([])
  })
})

describe("resolveMapped", () => {
  test("prefers the whole specifier, then the longest prefix", () => {
    const imports = {
      "a/": "./a/",
      "a/b/": "./ab/",
      "a/b/c": "npm:c",
      "@/": "./",
      "#lib/": "./lib/",
    }
    expect(resolve({ imports }, "a/x.ts")).toBe("val:///a/x.ts")
    expect(resolve({ imports }, "a/b/x.ts")).toBe("val:///ab/x.ts")
    expect(resolve({ imports }, "a/b/c")).toBe("npm:c")
    expect(resolve({ imports }, "@/main.tsx", "deep/er/x.ts")).toBe("val:///main.tsx")
    expect(resolve({ imports }, "#lib/db.ts")).toBe("val:///lib/db.ts")
    expect(resolve({ imports }, "a")).toBeUndefined()
    expect(resolve({ imports }, "b/a/x.ts")).toBeUndefined()
  })

  test("prefers the most specific scope, and falls back to the others", () => {
    const config = {
      imports: { x: "npm:x@1", y: "npm:y@1", z: "npm:z@1" },
      scopes: { "./lib/": { x: "npm:x@2", y: "npm:y@2" }, "./lib/deep/": { x: "npm:x@3" } },
    }
    expect(resolve(config, "x", "lib/deep/a.ts")).toBe("npm:x@3")
    expect(resolve(config, "y", "lib/deep/a.ts")).toBe("npm:y@2")
    expect(resolve(config, "z", "lib/deep/a.ts")).toBe("npm:z@1")
    expect(resolve(config, "x", "lib/a.ts")).toBe("npm:x@2")
    expect(resolve(config, "x", "library.ts")).toBe("npm:x@1")
  })

  test("maps addresses and relative paths, after resolving them", () => {
    const imports = {
      "https://esm.sh/zod": "npm:zod@4",
      "./old.ts": "./new.ts",
      "https://cdn.test/": "https://mirror.test/",
    }
    expect(resolve({ imports }, "https://esm.sh/zod")).toBe("npm:zod@4")
    expect(resolve({ imports }, "../old.ts", "lib/a.ts")).toBe("val:///new.ts")
    expect(resolve({ imports }, "./old.ts", "lib/a.ts")).toBeUndefined()
    expect(resolve({ imports }, "https://cdn.test/x/y.js")).toBe("https://mirror.test/x/y.js")
  })

  test("maps what is in a package with the package", () => {
    const imports = { preact: "npm:preact@10", "std/": "jsr:/@std/", "z/": "npm:/zod@4/" }
    expect(resolve({ imports }, "preact/hooks")).toBe("npm:preact@10/hooks")
    expect(resolve({ imports }, "std/csv")).toBe("jsr:@std/csv")
    expect(resolve({ imports }, "z/mini")).toBe("npm:zod@4/mini")
  })

  test("stays in the val", () => {
    const imports = { "a/": "./a/", up: "../../../x.ts", "up/": "../../" }
    expect(resolve({ imports }, "up")).toBe("val:///x.ts")
    expect(resolve({ imports }, "a/../../../secret.ts")).toBeUndefined()
    expect(resolve({ imports }, "up/x.ts")).toBe("val:///x.ts")
    expect(toOwnPath("val:///lib/x.ts?a#b")).toBe("lib/x.ts")
    expect(toOwnPath("https://esm.sh/x")).toBeUndefined()
  })

  test("follows a mapping once, so that mappings may be cyclic", () => {
    expect(resolve({ imports: { "./a.ts": "./b.ts", "./b.ts": "./a.ts" } }, "./a.ts")).toBe(
      "val:///b.ts",
    )
  })
})

describe("toPragma", () => {
  const settings = { jsx: "automatic", importSource: "npm:preact" } as const
  test("gives the settings to files that have JSX, unless they say it themselves", () => {
    expect(toPragma(settings, "export default <p />")).toBe("/** @jsxImportSource npm:preact */")
    expect(toPragma(settings, "export default 1 < 2")).toBe("")
    expect(toPragma(settings, "/** @jsxImportSource npm:react */ <p />")).toBe("")
    expect(toPragma(settings, "/** @jsx h */ <p />")).toBe("")
    expect(toPragma(undefined, "<p />")).toBe("")
    const classic = { jsx: "classic", factory: "h", fragmentFactory: "Fragment" } as const
    expect(toPragma(classic, "<p />")).toBe("/** @jsx h *//** @jsxFrag Fragment */")
  })
})
