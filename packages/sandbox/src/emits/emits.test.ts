import { describe, expect, test } from "bun:test"
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { notRun, waitUntil } from "@hamlet/kit/testing"
import { programLimits } from "../processes/program-limits.ts"
import { type ProgramModule, toModuleType } from "../program/program-module.ts"
import { toCachePath, toModuleFile, writeModule } from "../sandboxes/module-cache.ts"
import {
  denoPath,
  evaluate,
  hasBubblewrap,
  openSandboxes,
} from "../sandboxes/testing/sandbox-testing.ts"
import { toEmitFile, toEmitKey } from "./emit-file.ts"
import { EmitFolder } from "./emit-folder.ts"
import { Emitter } from "./emitter.ts"

const base = "http://localhost:8080/v/ada/hello@1-main"
const ownerId = "ada"

/** Sandboxes in bubblewrap, and the emitter that works for them. */
async function openStage(limits: ConstructorParameters<typeof Emitter>[2] = {}) {
  const missing: ProgramModule[] = []
  const opened = await openSandboxes({
    isolation: "bubblewrap",
    onMissingEmits: (modules) => missing.push(...modules),
  })
  const { sandboxes, errors } = opened
  const emits = sandboxes.emits as EmitFolder
  const emitter = new Emitter(
    async () => sandboxes,
    (error) => errors.push(error),
    limits,
  )
  const hasAll = (modules: readonly ProgramModule[]) =>
    modules.every((module) => emits.has(toEmitKey(module) ?? ""))
  return {
    emits,
    emitter,
    errors,
    missing,
    hasAll,
    readFile: (module: ProgramModule) =>
      readFileSync(join(emits.folder, toEmitKey(module) ?? ""), "utf8"),
    /** Puts the modules into a process of their own, and runs code there. */
    async load(modules: readonly ProgramModule[], code: string): Promise<unknown> {
      const sandbox = await sandboxes.launch()
      try {
        await sandbox.addModules(modules)
        return await evaluate(sandbox, code)
      } finally {
        await sandbox.stop()
      }
    },
    /** Returns when each of the modules is transpiled, or was refused. */
    async transpile(modules: readonly ProgramModule[]): Promise<void> {
      emitter.add(modules)
      // The modules of an owner are transpiled in order.
      const last = toModule("last.ts", `export const last: number = ${Math.random()}`)
      emitter.add([last])
      await waitUntil(() => hasAll([last]), { what: "the last module", seen: () => errors })
    },
    async [Symbol.asyncDispose]() {
      await emitter.stop()
      await opened[Symbol.asyncDispose]()
    },
  }
}

function toModule(path: string, code: string): ProgramModule {
  return { url: `${base}/${path}`, code, type: toModuleType(path), ownerId }
}

function add(emits: EmitFolder, module: ProgramModule, javascript: Uint8Array): Promise<void> {
  const file = Buffer.from(toModuleFile(module))
  return emits.add(toEmitKey(module) ?? "", toEmitFile(module.code, javascript), file)
}

/** What Deno itself makes of modules when it loads them, in its cache. */
function transpileWithDeno(
  modules: readonly ProgramModule[],
  imported: readonly ProgramModule[],
): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
  try {
    mkdirSync(join(folder, "deno"))
    for (const module of [...modules, ...imported]) writeModule(join(folder, "deno"), module)
    const main = join(folder, "main.js")
    const imports = modules.map(({ url }) => `import(${JSON.stringify(url)})`)
    writeFileSync(main, `await Promise.allSettled([${imports}])`)
    const switches = ["--quiet", "--no-config", "--no-lock", "--no-npm", "--cached-only"]
    const { exitCode, stderr } = Bun.spawnSync(
      [denoPath, "run", ...switches, "--allow-import=localhost:8080", main],
      { env: { DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1" } },
    )
    expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" })
    return modules.map(({ url }) =>
      readFileSync(join(folder, "deno", "gen", `${toCachePath(url)}.js`), "utf8"),
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The hash of the text, the JavaScript and the mappings of a file in Deno's cache. */
function parseEmitFile(file: string) {
  const [, javascript = "", map = "", hash = ""] =
    /^([\s\S]*)\/\/# sourceMappingURL=data:application\/json;base64,(.*)\n\/\/ denoCacheMetadata=(\d+),\d+$/.exec(
      file,
    ) ?? []
  const { names, mappings } = JSON.parse(Buffer.from(map, "base64").toString() || "{}") as {
    names: readonly string[]
    mappings: string
  }
  return { javascript, hash, names, mappings }
}

/** Syntax that transpilers treat differently. */
const samples: Readonly<Record<string, string>> = {
  "types.ts": `interface A { x: number }\r\ntype B = A | undefined\nexport const f = <T,>(b: B): T => b!.x satisfies number as T`,
  "enum.ts": `export enum Color { Red, Green = "g" }\nexport declare const enum None {}\nconst enum Few { One = 1 }\nexport default Few.One`,
  "namespace.ts": `export namespace Shapes { export const sides = 3; export namespace Inner { export let x = sides } }`,
  "decorators.ts": `const log = (_: unknown, context: { name: unknown }) => { void context.name }\nclass A { @log method() {} @log accessor x = 1 }\nexport { A }`,
  "computed.ts": `const key = "k"; export class A { [key]: number = 1; static [key + 1](): void {} #p?: string; declare q: number }`,
  "parameters.ts": `export class A { constructor(private readonly x: number, public y?: string) {} }`,
  "using.ts": `{ using a = { [Symbol.dispose]() {} }; await using b = { async [Symbol.asyncDispose]() {} } }`,
  "unused.ts": `import { readFile, type Stats } from "node:fs"\nimport type { Buffer } from "node:buffer"\nimport * as path from "node:path"\nimport "node:os"\nexport type { Buffer }\nexport const name: Stats | string = path.sep`,
  "await.ts": `export const at: string = await Promise.resolve(import.meta.url)\nif (import.meta.main) console.log(import.meta.resolve("./x.ts"))`,
  "classic.tsx": `const React = { createElement: (...all: unknown[]) => all, Fragment: "f" }\nexport default <><p class="a" {...{}}>é {"<"} &amp; &nbsp;</p></>`,
  "pragma.tsx": `/** @jsx h */\n/** @jsxFrag F */\nconst h = (...all: unknown[]) => all, F = 1\nexport default <><a-b/></>`,
  "source.tsx": `/** @jsxImportSource ./jsx */\nexport default () => <p key="a">{...[1]}</p>`,
  "plain.jsx": `const React = { createElement: (...all) => all }\nexport default <b>x</b>`,
  "cast.ts": `export const text = <string>"x"`,
  "comments.ts": `#!/usr/bin/env deno\n// @ts-ignore\n/* é 🦕 */ export const x: string = "🦕\\u{1f995}" // end`,
  "json.ts": `import data from "./data.json" with { type: "json" }\nexport default data satisfies unknown`,
  "empty.ts": ``,
}

if (!hasBubblewrap) notRun("emits", "bubblewrap is not installed")

describe.skipIf(!hasBubblewrap)("EmitFolder", () => {
  test("gives a process JavaScript, which Deno uses instead of the TypeScript", async () => {
    await using stage = await openStage()
    const module = toModule("main.tsx", `const text: string = "typescript"; export default text`)
    const javascript = Buffer.from(`export default "javascript"`)
    await add(stage.emits, module, javascript)
    const code = `return (await import("${module.url}")).default`
    expect(await stage.load([module], code)).toBe("javascript")
    expect(stage.missing).toEqual([])
  })

  test("leaves a program to Deno if the JavaScript of one module is missing", async () => {
    await using stage = await openStage()
    const lib = toModule("lib.ts", `export const lib: string = "typescript"`)
    const main = toModule("main.ts", `import { lib } from "./lib.ts"\nexport default lib as string`)
    const marked = toModule("marked.ts", `\ufeffexport default 1 as number`)
    await add(stage.emits, lib, Buffer.from(`export const lib = "javascript"`))
    const code = `return (await import("${main.url}")).default`
    expect(await stage.load([main, lib], code)).toBe("typescript")
    expect(await stage.load([marked], `return (await import("${marked.url}")).default`)).toBe(1)
    expect(stage.missing).toEqual([main, marked])
  })

  test("lets a process transpile modules that are not in the program", async () => {
    await using stage = await openStage()
    const module = toModule("main.ts", "export default 1 as number")
    await stage.transpile([module])
    const code = `const { default: one } = await import("${module.url}")
      const { default: two } = await import("data:application/typescript,export default 2 as number")
      const url = URL.createObjectURL(new Blob(["export default 3 as number"], { type: "text/typescript" }))
      return [one, two, (await import(url)).default]`
    expect(await stage.load([module], code)).toEqual([1, 2, 3])
  })

  test("links the text of a module, and nothing is written through the link", async () => {
    const folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
    try {
      const emits = new EmitFolder(join(folder, "emits"), "http://localhost:8080", () => {})
      const module = toModule("main.ts", "export default 1 as number")
      await add(emits, module, Buffer.from("export default 1"))
      const shared = join(emits.folder, `${toEmitKey(module)}.module`)
      const write = (name: string, ...modules: readonly ProgramModule[]) => {
        const path = join(folder, name, "remote", toCachePath(module.url))
        for (const module of modules)
          writeModule(join(folder, name), module, (one, to) => emits.link(one, to))
        return { isLinked: statSync(path).ino === statSync(shared).ino, path }
      }
      expect(write("own", module).isLinked).toBe(true)
      expect(write("moved", { ...module, url: `${module.url}?x` }, module).isLinked).toBe(true)
      const other = { ...module, code: "export default 2 as number" }
      const text = toModuleFile(other)
      for (const others of [[other], [module, other]]) {
        const { isLinked, path } = write(`other${others.length}`, ...others)
        expect([isLinked, readFileSync(path, "utf8")]).toEqual([false, text])
      }
      expect(write("eve", { ...module, ownerId: "eve" }).isLinked).toBe(false)
      expect(readFileSync(shared, "utf8")).toBe(toModuleFile(module))
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test("removes the files that were not used for longest", async () => {
    const folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
    try {
      const emits = new EmitFolder(folder, "http://localhost:8080", () => {}, 25)
      for (const key of ["a", "b", "c"]) await emits.add(key, Buffer.alloc(6), Buffer.alloc(4))
      expect(["a", "b", "c"].filter((key) => emits.has(key))).toEqual(["b", "c"])
      expect(readdirSync(folder).toSorted()).toEqual(["b", "b.module", "c", "c.module"])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe.skipIf(!hasBubblewrap)("Emitter", () => {
  test("transpiles as Deno does when it loads a module", async () => {
    await using stage = await openStage()
    const modules = Object.entries(samples).map(([path, code]) => toModule(path, code))
    await stage.transpile(modules)
    expect(modules.filter((module) => !stage.hasAll([module]))).toEqual([])
    const own = modules.map((module) => parseEmitFile(stage.readFile(module)))
    const imported = [
      { url: `${base}/jsx/jsx-runtime`, code: "export const jsx = 1, jsxs = 1", type: "js" },
      { url: `${base}/data.json`, code: "{}", type: "json" },
    ] as const
    expect(own).toEqual(transpileWithDeno(modules, imported).map(parseEmitFile))
  })

  test("leaves code that Deno refuses to Deno, which explains it", async () => {
    await using stage = await openStage()
    const refused = [
      toModule("syntax.ts", "const = ;"),
      toModule("template.ts", "export default `${"),
      toModule("assert.ts", `import a from "./a.json" assert { type: "json" }\nexport default a`),
    ]
    const good = toModule("good.ts", "export default 1 as number")
    await stage.transpile([...refused, good])
    expect([...refused, good].map((module) => stage.hasAll([module]))).toEqual([
      ...refused.map(() => false),
      true,
    ])
  })

  test("does not change the errors of code that only V8 refuses", async () => {
    await using stage = await openStage()
    const refused = [
      toModule("export.ts", "export = 1"),
      toModule("require.ts", `import a = require("./export.ts")\nexport default a`),
      toModule("twice.tsx", "type A = 1\nlet a: A = 1\n  let a: A = 1\nexport default <p>{a}</p>"),
    ]
    const stacks = refused.map(({ url }) => `await import("${url}").catch(({ stack }) => stack)`)
    const code = `return [${stacks}]`
    const before = await stage.load(refused, code)
    await stage.transpile(refused)
    expect(stage.hasAll(refused)).toBe(true)
    expect(await stage.load(refused, code)).toEqual(before)
    expect(before).toEqual(refused.map(({ url }) => expect.stringContaining(` at ${url}:`)))
  })

  test("survives code that keeps it busy or ends it, also for other owners", async () => {
    await using stage = await openStage()
    const fill = (piece: string, others = 0) =>
      piece.repeat(Math.floor((programLimits.moduleCharsMax - 100) / (piece.length + others)))
    const hostile = [
      toModule("parentheses.ts", `export default ${fill("(", 1)}1${fill(")", 1)}`),
      toModule("elements.tsx", `export default ${fill("<a>", 4)}${fill("</a>", 3)}`),
      toModule("templates.ts", `export default ${fill("`${")}`),
      toModule("members.ts", `enum A { ${fill("a,")} }`),
      toModule("unions.ts", `let x: ${fill("A|")}B`),
    ]
    stage.emitter.add(hostile.map((module) => ({ ...module, ownerId: "eve" })))
    const good = toModule("good.ts", "export default 1 as number")
    stage.emitter.add([good])
    await waitUntil(() => stage.hasAll([good]))
    await stage.transpile([])
    expect(await stage.load([good], `return (await import("${good.url}")).default`)).toBe(1)
  })

  test("hashes the texts of a large save in slices", async () => {
    const emitter = new Emitter(
      async () => undefined,
      () => {},
    )
    const hashed = new Set<number>()
    const modules = Array.from({ length: 1_000 }, (_, index) => ({
      url: `${index}.ts`,
      ownerId,
      get code() {
        hashed.add(index)
        return `${index}${"x".repeat(80_000)}`
      },
    }))
    emitter.add(modules)
    expect(hashed.size).toBeLessThan(modules.length)
    await waitUntil(() => hashed.size === modules.length)
    await emitter.stop()
  })

  test("an owner that saves all the time waits, and others do not", async () => {
    await using stage = await openStage({ postponedMsMax: 3_600_000 })
    const saved: ProgramModule[] = []
    const saving = setInterval(() => {
      const module = toModule("main.ts", `export default ${saved.length} as number`)
      saved.push({ ...module, ownerId: "eve" })
      stage.emitter.add(saved.slice(-1))
    }, 5)
    try {
      await waitUntil(() => saved.length > 10)
      const other = toModule("other.ts", "export default 1 as number")
      stage.emitter.add([other])
      await waitUntil(() => stage.hasAll([other]))
      expect(saved.filter((module) => stage.hasAll([module]))).toEqual([])
    } finally {
      clearInterval(saving)
    }
    await waitUntil(() => stage.hasAll(saved.slice(0, 10)))
  })

  test("does not postpone modules for longer than the limit", async () => {
    await using stage = await openStage({ quietMs: 3_600_000, postponedMsMax: 0 })
    const module = toModule("main.ts", "export default 1 as number")
    stage.emitter.add([module])
    await waitUntil(() => stage.hasAll([module]))
  })

  test("tries again after it could not write its tool", async () => {
    await using stage = await openStage({ failedMs: 1 })
    const modules = [toModule("a.ts", "export default 1 as number"), toModule("b.ts", "let b: 1")]
    const obstacle = join(stage.emits.folder, "../transpile.js")
    mkdirSync(obstacle)
    stage.emitter.add(modules.slice(0, 1))
    await waitUntil(() => stage.errors.length > 0)
    expect(stage.errors.splice(0).map(String)).toEqual([expect.stringContaining("EISDIR")])
    rmSync(obstacle, { recursive: true })
    stage.emitter.add(modules)
    await waitUntil(() => stage.hasAll(modules), { seen: () => stage.errors })
  })

  test("gives no owner the JavaScript that was made from the same text of another", async () => {
    await using stage = await openStage()
    const module = toModule("same.ts", "export default 1 as number")
    await stage.transpile([module])
    expect(stage.hasAll([module])).toBe(true)
    expect(stage.hasAll([{ ...module, ownerId: "eve" }])).toBe(false)
  })

  test("transpiles a module when a second process loads it", async () => {
    await using stage = await openStage()
    const once = toModule("once.ts", "export default 1 as number")
    const twice = toModule("twice.ts", "export default 2 as number")
    stage.emitter.noteLoaded([once, twice])
    stage.emitter.noteLoaded([twice])
    await waitUntil(() => stage.hasAll([twice]))
    expect(stage.hasAll([once])).toBe(false)
  })

  test("keeps the author's lines and columns in stack traces", async () => {
    await using stage = await openStage()
    const lib = toModule(
      "lib/shapes.tsx",
      `interface Shape {
  readonly sides: number
}
enum Kind { Round, Square }
const React = { createElement: (type: unknown): unknown => typeof type === "function" ? type() : type }
export function measure(shape: Shape): never {
  type Local = { a: number };   throw new Error("no " + Kind.Square + shape.sides)
}
export const View = () => <div>{measure({ sides: 1 })}</div>
export async function later(shape: Shape): Promise<void> {
  await null
  ;(measure as (shape: Shape) => void)(shape)
}`,
    )
    const main = toModule(
      "main.tsx",
      `import { later, measure, View, type Missing } from "./lib/shapes.tsx"
type Stack = string | undefined

async function stackOf(work: () => unknown): Promise<Stack> {
  try { await work() } catch (error) { return (error as Error).stack }
}
export default [
  await stackOf(() => measure({ sides: 2 } as const)), await stackOf(View),
  await stackOf(async (): Promise<void> => await later({ sides: 3 })),
  (<T,>(x: T) => x)<Stack>(new Error("here").stack),
]`,
    )
    const code = `return (await import("${main.url}")).default`
    const before = await stage.load([main, lib], code)
    expect(stage.missing).toEqual([main, lib])
    await stage.transpile([main, lib])
    expect(await stage.load([main, lib], code)).toEqual(before)
    expect(stage.missing).toEqual([main, lib])
    expect(before).toMatchObject([
      expect.stringContaining(`at measure (${lib.url}:7:39)`),
      expect.stringContaining(`at View (${lib.url}:9:33)`),
      expect.stringContaining(`at async`),
      expect.stringContaining(`${main.url}:10:28`),
    ])
  })
})
