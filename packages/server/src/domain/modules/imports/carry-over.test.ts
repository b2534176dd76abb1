import { describe, expect, test } from "bun:test"
import { readConfig } from "@hamlet/contract/deno-json"
import type { Lockfile, Resolution } from "../lockfiles.ts"
import { toTextHash } from "../text-hash.ts"
import { type ChangedModule, decidePackages } from "./carry-over.ts"

const zod = `import "npm:zod"`
const both = `import "npm:zod"; import "npm:preact"`

/** `npm:` literals are the packages of a text. */
function put(path: string, code: string): ChangedModule {
  const packages = Array.from(
    code.matchAll(/"(npm:[^"]+)"/g),
    ({ index, 0: text, 1: name = "" }) => ({
      specifier: name,
      start: index,
      end: index + text.length,
    }),
  )
  return { path, isEnd: false, from: undefined, text: { code, listPackages: () => packages } }
}
const end = (path: string): ChangedModule => ({ path, isEnd: true, from: path, text: undefined })
const move = (from: string, path: string): ChangedModule => ({
  path,
  isEnd: false,
  from,
  text: undefined,
})

/** The lockfile of `main.tsx` with both packages and `a.ts` with one. */
const ready = {
  state: "ready",
  resolution: {
    bundle: "b".repeat(64),
    files: [
      ["main.tsx", toTextHash(both)],
      ["a.ts", toTextHash(zod)],
    ],
    imports: [
      { specifier: "npm:zod", places: [toPlace(both, 7, 16), toPlace(zod, 7, 16)] },
      { specifier: "npm:preact", places: [toPlace(both, 25, 37)] },
    ].map((one, entry) => ({ ...one, resolved: one.specifier, error: null, entry, exports: [] })),
  },
} satisfies Pick<Lockfile, "state" | "resolution">

function toPlace(code: string, start: number, last: number) {
  return { text: toTextHash(code), start, end: last }
}

function carried(...changed: readonly ChangedModule[]): Resolution | string {
  const decision = decidePackages(ready, changed, undefined)
  return typeof decision === "string" ? decision : decision.carried
}

describe("decidePackages", () => {
  test("takes over the same set of packages, with the places of the new text", () => {
    const code = `// An edit.\n${both}`
    const resolution = carried(put("main.tsx", code))
    expect<unknown>(resolution).toEqual({
      ...ready.resolution,
      files: [
        ["a.ts", toTextHash(zod)],
        ["main.tsx", toTextHash(code)],
      ],
      imports: [
        { ...ready.resolution.imports[0], places: [toPlace(zod, 7, 16), toPlace(code, 19, 28)] },
        { ...ready.resolution.imports[1], places: [toPlace(code, 37, 49)] },
      ],
    })
  })

  test("takes it over when files are added, moved or deleted, or have the same text", () => {
    const filesOf = (...changed: readonly ChangedModule[]) => {
      const resolution = carried(...changed)
      return typeof resolution === "string" ? resolution : resolution.files?.map(([path]) => path)
    }
    expect(filesOf(put("b.ts", `${zod};`))).toEqual(["main.tsx", "a.ts", "b.ts"])
    expect(filesOf(put("b.ts", both))).toEqual(["main.tsx", "a.ts", "b.ts"])
    expect(filesOf(put("b.ts", "export {}"))).toEqual(["main.tsx", "a.ts"])
    expect(filesOf(end("a.ts"))).toEqual(["main.tsx"])
    expect(filesOf(end("a.ts"), move("a.ts", "lib/a.ts"))).toEqual(["main.tsx", "lib/a.ts"])
    expect(filesOf(put("a.ts", "export {}"))).toEqual(["main.tsx"])
    // An import moves from one file to another.
    expect(filesOf(put("main.tsx", zod), put("a.ts", `import "npm:preact"`))).toEqual([
      "main.tsx",
      "a.ts",
    ])
  })

  test("has packages fetched when the set differs, or is not known", () => {
    expect(carried(put("main.tsx", `${both}; import "npm:more"`))).toBe("fetch")
    expect(carried(put("main.tsx", zod))).toBe("fetch")
    expect(carried(end("main.tsx"))).toBe("fetch")
    const unknown = { ...put("b.ts", zod), text: { code: zod, listPackages: () => undefined } }
    expect(carried(unknown)).toBe("fetch")
    expect(carried(end("notes.txt"), move("notes.txt", "notes.ts"))).toBe("fetch")
    const { config } = readConfig("deno.json", `{"scopes": {"./lib/": {"a": "npm:a"}}}`)
    expect(decidePackages(ready, [end("a.ts"), move("a.ts", "lib/a.ts")], config)).toBe("fetch")
  })

  test("has none when no file imports any", () => {
    expect(carried(put("main.tsx", "1"), end("a.ts"))).toBe("none")
    expect(decidePackages(null, [put("main.tsx", "1")], undefined)).toBe("none")
    expect(decidePackages(null, [put("main.tsx", zod)], undefined)).toBe("fetch")
  })

  test("keeps what other files have", () => {
    expect(carried(put("README.md", zod), put("data.json", zod))).toBe("keep")
  })

  test("takes over only what is ready and says which files it is of", () => {
    for (const before of [
      { state: "failed" as const, resolution: ready.resolution },
      { state: "pending" as const, resolution: null },
      { state: "ready" as const, resolution: { bundle: null, imports: [] } },
    ]) {
      expect(decidePackages(before, [put("main.tsx", both)], undefined)).toBe("fetch")
      expect(decidePackages(before, [put("b.ts", "1")], undefined)).toBe("keep")
    }
  })
})
