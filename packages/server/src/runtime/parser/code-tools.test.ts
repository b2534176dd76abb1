import { afterEach, describe, expect, test } from "bun:test"
import { fileURLToPath } from "node:url"
import { waitUntil } from "@hamlet/kit/testing"
import { AppError } from "../../domain/app-error.ts"
import { CodeTools, type CodeToolsLimits, type ParseFailureReport } from "./code-tools.ts"
import { listParsers, withIdleParser } from "./testing/parser-testing.ts"

const started: CodeTools[] = []
const reports: ParseFailureReport[] = []
afterEach(async () => {
  reports.splice(0)
  await Promise.all(started.splice(0).map((tools) => tools.stop()))
  expect(listParsers(process.pid)).toEqual([])
})

function createTools(
  limits: Partial<CodeToolsLimits> = {},
  isolation: "auto" | "deno" = "auto",
): CodeTools {
  const tools = new CodeTools({ limits, isolation, onFailure: (report) => reports.push(report) })
  started.push(tools)
  return tools
}

const toError = (error: unknown) => error as AppError
const slowCode = `import "slow"; x=${"a?(b,c):d=>".repeat(2000)}e`

describe("CodeTools.scanImports", () => {
  test("finds imports", async () => {
    expect(
      await createTools().scanImports(
        `import a from "x"; export * from "y"; import("z"); import "x"`,
      ),
    ).toEqual(["x", "y", "z"])
  })

  test("starts no parser for code without imports", async () => {
    const tools = createTools()
    expect(await tools.scanImports("export default () => new Response(`hello`)")).toEqual([])
    expect(tools.usage.processes).toBe(0)
  })

  test("finds none in code that does not parse", async () => {
    expect(await createTools().scanImports(`import "x"; const = 1`)).toEqual([])
    expect(reports).toEqual([])
  })

  test("reports code that takes too much memory, and parses other code meanwhile", async () => {
    const tools = createTools()
    const slow = tools.scanImports(slowCode, "mallory")
    expect(await tools.scanImports(`import "x"`, "ada")).toEqual(["x"])
    expect(await slow).toEqual([])
    expect(reports).toMatchObject([
      { task: "scan_imports", owner: "mallory", codeChars: slowCode.length },
    ])
    expect(await tools.scanImports(`import "y"`, "mallory")).toEqual(["y"])
  })

  test("finds none in code that takes too long", async () => {
    const tools = createTools({ requestMsMax: 50, memoryBytesMax: Number.POSITIVE_INFINITY })
    expect(await tools.scanImports(`x=${"a?(b):c=>(".repeat(2000)} import`)).toEqual([])
    expect(reports).toMatchObject([{ reason: "timed_out" }])
  })

  test("fails with rate_limited when the queue is full", async () => {
    const tools = createTools({ waitingMax: 0 })
    expect(await tools.scanImports(`import "x"`).catch(toError)).toMatchObject({
      code: "rate_limited",
    })
  })
})

describe("CodeTools without a parser that starts", () => {
  const unavailable = { code: "sandbox_unavailable" }

  test("fails with sandbox_unavailable, and reports it", async () => {
    const tools = createTools({ startMsMax: 10 }, "deno")
    const message = "Cannot read the imports of the code: the parser does not start"
    await withIdleParser(async () => {
      expect(await tools.scanImports(`import "x"`, "ada").catch(toError)).toMatchObject({
        ...unavailable,
        message,
      })
      const many = tools.scanManyImports([`import "x"`, `import "y"`])
      expect(await many.catch(toError)).toMatchObject(unavailable)
      expect(await tools.toJavaScript("a").catch(toError)).toMatchObject(unavailable)
    })
    expect(reports[0]).toMatchObject({ task: "scan_imports", reason: "unavailable", owner: "ada" })
  })

  test("still reads code without imports", async () => {
    expect(await createTools({ startMsMax: 1 }).scanImports("1")).toEqual([])
  })
})

describe("CodeTools.scanManyImports", () => {
  const codes = (count: number) => Array.from({ length: count }, (_, index) => `import "${index}"`)
  const found = (count: number) => Array.from({ length: count }, (_, index) => [String(index)])

  test("finds the imports of each piece in order, however they are grouped", async () => {
    for (const limits of [
      {},
      { piecesPerRequestMax: 1 },
      { piecesPerRequestMax: 7 },
      { charsPerRequestMax: 40 },
      { charsPerRequestMax: 0 },
    ])
      expect(await createTools(limits).scanManyImports(codes(30), "ada")).toEqual(found(30))
    expect(await createTools().scanManyImports([])).toEqual([])
  })

  test("finds none in the piece that takes too much, and those of all others", async () => {
    const tools = createTools({ requestMsMax: 60_000 })
    const some = [...codes(2), slowCode, "import {", `export * from "z"`]
    expect(await tools.scanManyImports(some, "mallory")).toEqual([...found(2), [], [], ["z"]])
    expect(reports).toMatchObject([
      { task: "scan_imports", owner: "mallory", codeChars: slowCode.length },
    ])
  })

  test("fails with rate_limited when the queue is full", async () => {
    expect(
      await createTools({ waitingMax: 0 }).scanManyImports(codes(2)).catch(toError),
    ).toMatchObject({ code: "rate_limited" })
  })
})

describe("CodeTools.toJavaScript", () => {
  test("converts TypeScript", async () => {
    expect(await createTools().toJavaScript("export const a: number = 1")).toBe(
      "export const a = 1;\n",
    )
  })

  test("reports the line that does not parse", async () => {
    const error = await createTools().toJavaScript("a\nconst b = = 1").catch(toError)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({
      code: "module_not_parsable",
      message: "Cannot convert the code to JavaScript: Unexpected = (line 2)",
    })
  })

  test("reports code that exceeds a limit", async () => {
    const long = createTools({ requestMsMax: 50, memoryBytesMax: Number.POSITIVE_INFINITY })
    const message = "Cannot convert the code to JavaScript: parsing takes longer than 50 ms"
    expect(await long.toJavaScript(slowCode).catch(toError)).toMatchObject({
      code: "module_not_parsable",
      message,
    })
    const large = createTools({ requestMsMax: 60_000, memoryBytesMax: 100_000_000, checkMs: 1 })
    const largeMessage =
      "Cannot convert the code to JavaScript: parsing takes more than 100000000 bytes of memory"
    expect(await large.toJavaScript(slowCode).catch(toError)).toMatchObject({
      code: "module_not_parsable",
      message: largeMessage,
    })
  })

  test("fails with rate_limited when the queue is full", async () => {
    expect(await createTools({ waitingMax: 0 }).toJavaScript("a").catch(toError)).toMatchObject({
      code: "rate_limited",
    })
  })

  // What is cached needs no parser, so it is still there when there are none any more.
  test("converts a module once, or refuses it once", async () => {
    const tools = createTools()
    await Promise.all([tools.toJavaScript("good"), tools.toJavaScript("bad bad").catch(toError)])
    await tools.stop()
    expect(await tools.toJavaScript("good")).toBe("good;\n")
    expect(await tools.toJavaScript("bad bad").catch(toError)).toMatchObject({
      code: "module_not_parsable",
    })
    expect(tools.toJavaScript("other")).rejects.toThrow("stopped")
  })

  test("converts a module once for simultaneous requests", async () => {
    const tools = createTools({ processesMax: 1, waitingMax: 1 })
    const modules = await Promise.all(Array.from({ length: 20 }, () => tools.toJavaScript("a")))
    expect(new Set(modules)).toEqual(new Set(["a;\n"]))
  })

  test("caches no more than its limit", async () => {
    const tools = createTools({ cachedBytesMax: 1000 })
    for (let index = 0; index < 30; index++) {
      await tools.toJavaScript(`export const a${index} = "${"b".repeat(100)}"`)
      expect(tools.usage.cachedBytes).toBeLessThanOrEqual(1000)
    }
    expect(tools.usage.cachedBytes).toBeGreaterThan(0)
    await tools.toJavaScript(`export const large = "${"c".repeat(2000)}"`)
    expect(tools.usage.cachedBytes).toBeLessThanOrEqual(1000)
  })
})

describe("CodeTools against deep nesting", () => {
  const shapes: [title: string, nest: (depth: number) => string][] = [
    ["parentheses", (depth) => `${"(".repeat(depth)}1${")".repeat(depth)}`],
    ["arrays", (depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`],
    ["objects", (depth) => `x=${"{a:".repeat(depth)}1${"}".repeat(depth)}`],
    ["blocks", (depth) => `${"{".repeat(depth)}${"}".repeat(depth)}`],
    ["functions", (depth) => `${"function a(){".repeat(depth)}${"}".repeat(depth)}`],
    ["arrow functions", (depth) => `x=${"()=>".repeat(depth)}1`],
    ["arrow parameters", (depth) => `x=${"(a=".repeat(depth)}1${")=>1".repeat(depth)}`],
    ["classes", (depth) => `x=${"class{a=".repeat(depth)}1${"}".repeat(depth)}`],
    ["calls", (depth) => `${"a(".repeat(depth)}${")".repeat(depth)}`],
    ["dynamic imports", (depth) => `${"import(".repeat(depth)}"x"${")".repeat(depth)}`],
    ["member chains", (depth) => `a${".b()".repeat(depth)}`],
    ["optional chains", (depth) => `a${"?.b".repeat(depth)}`],
    ["sums", (depth) => `a${"+a".repeat(depth)}`],
    ["powers", (depth) => `x=${"a**".repeat(depth)}1`],
    ["negations", (depth) => `x=${"!".repeat(depth)}a`],
    ["conditions", (depth) => `x=${"a?b:".repeat(depth)}c`],
    ["open conditions", (depth) => `x=${"a?(".repeat(depth)}`],
    ["assignments", (depth) => `x${"=a".repeat(depth)}`],
    ["patterns", (depth) => `let ${"[".repeat(depth)}a${"]".repeat(depth)}=b`],
    ["if", (depth) => `${"if(a)".repeat(depth)};`],
    ["else", (depth) => `${"if(a);else ".repeat(depth)};`],
    ["try", (depth) => `${"try{".repeat(depth)}${"}catch{}".repeat(depth)}`],
    ["templates", (depth) => `x=${"`${".repeat(depth)}1${"}`".repeat(depth)}`],
    ["JSX", (depth) => `x=${"<a>".repeat(depth)}${"</a>".repeat(depth)}`],
    ["JSX attributes", (depth) => `x=${"<a b={".repeat(depth)}1${"}/>".repeat(depth)}`],
    ["types", (depth) => `type x=${"[".repeat(depth)}a${"]".repeat(depth)}`],
    ["conditional types", (depth) => `type x=${"a extends infer b?".repeat(depth)}`],
    ["type arguments", (depth) => `let x:${"a<".repeat(depth)}b${">".repeat(depth)}`],
    ["open type arguments", (depth) => `x=${"a<".repeat(depth)}`],
    [
      "namespaces",
      (depth) => `${"namespace a{".repeat(depth)}export const z=1${"}".repeat(depth)}`,
    ],
    ["decorators", (depth) => `${"@(".repeat(depth)}a${")".repeat(depth)} class b{}`],
    ["regular expressions", (depth) => `x=/${"(".repeat(depth)}${")".repeat(depth)}/`],
  ]
  const depth = 20_000
  // In one test, so that they share the processes.
  test("survives every shape without losing a process to a crash", async () => {
    const tools = createTools()
    for (const [title, nest] of shapes) {
      const code = `import "x"; ${nest(depth)}`
      expect([title, await tools.scanImports(code)]).toEqual([title, expect.any(Array)])
      expect([title, await tools.toJavaScript(code).catch(toError)]).not.toEqual([title, undefined])
      const crashes = reports.filter(({ reason }) => reason === "crashed")
      expect([title, crashes]).toEqual([title, []])
      expect([title, await tools.scanImports(`import "y"`)]).toEqual([title, ["y"]])
    }
  })
})

describe("CodeTools and the life of its processes", () => {
  test("stop rejects what waits, and ends every process", async () => {
    const tools = createTools({ requestMsMax: 60_000, memoryBytesMax: Number.POSITIVE_INFINITY })
    const waiting = tools.scanImports(slowCode).catch(toError)
    await waitUntil(() => listParsers(process.pid).length === 1)
    await tools.stop()
    expect(await waiting).toMatchObject({
      message: "Cannot parse code: the code tools are stopped",
    })
    expect(listParsers(process.pid)).toEqual([])
    await tools.stop()
  })

  const modulePath = fileURLToPath(new URL("./code-tools.ts", import.meta.url))
  const load = `const { CodeTools } = await import(${JSON.stringify(modulePath)})`
  const script = `${load}; console.log(await new CodeTools().scanImports('import "x"'));`

  const servers: Bun.Subprocess[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.kill("SIGKILL")
  })

  function startServer(code: string) {
    const server = Bun.spawn({
      cmd: [process.execPath, "-e", code],
      stdio: ["ignore", "pipe", "ignore"],
    })
    servers.push(server)
    return server
  }

  test("does not keep the server's process alive", async () => {
    const server = startServer(script)
    expect(await new Response(server.stdout).text()).toContain(`"x"`)
    expect(await server.exited).toBe(0)
  })

  test("ends with a server that is killed", async () => {
    const server = startServer(`${script} setInterval(() => {}, 1000)`)
    await server.stdout.getReader().read()
    const parsers = listParsers(server.pid)
    expect(parsers).toHaveLength(1)
    server.kill("SIGKILL")
    await waitUntil(() => parsers.every((pid) => !isAlive(pid)))
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
