import { afterEach, describe, expect, test } from "bun:test"
import { startGuest, startVal, stopVals } from "./support/vals.ts"

afterEach(stopVals)

/** What a val logs when it is called once. */
async function logsOf(body: string, limits = {}) {
  const guest = await startVal(
    `import process from "node:process"\nexport default async () => { ${body} }`,
    { isHttp: false, limits },
  )
  const { logCount } = await guest.call([], "one")
  await guest.settle()
  return {
    guest,
    logCount,
    lines: guest.logs("one").map(({ level, message }) => `${level}: ${message}`),
  }
}

describe("captureConsole", () => {
  test("keeps the level of each line, and the time", async () => {
    const before = Date.now()
    const { guest, lines, logCount } = await logsOf(
      `for (const level of ["debug", "log", "info", "warn", "error"]) console[level]("x", level)`,
    )
    expect(lines).toEqual([
      "debug: x debug",
      "log: x log",
      "info: x info",
      "warn: x warn",
      "error: x error",
    ])
    expect(logCount).toBe(5)
    for (const { at } of guest.logs()) expect(at >= before && at <= Date.now()).toBe(true)
  })

  test("formats like Deno, without colours", async () => {
    const { lines } =
      await logsOf(`console.log("%s is %d, %o%c!", "a", 1.5, { b: [1] }, "color: red", "rest", new Map([["k", { deep: true }]]))
      console.log("100%", { a: 1, text: "x" }, [undefined, null, 1n]); console.log(); console.log("two\\nlines"); console.log("%s"); console.log("n", -0, true, 1.5); console.log("n", null)`)
    expect(lines).toEqual([
      'log: a is 1, { b: [ 1 ] }! rest Map(1) { "k" => { deep: true } }',
      'log: 100% { a: 1, text: "x" } [ undefined, null, 1n ]',
      "log: ",
      "log: two\nlines",
      "log: %s",
      "log: n -0 true 1.5",
      "log: n null",
    ])
  })

  test("supports groups, counts, tables and the other methods", async () => {
    const { lines } =
      await logsOf(`console.group("outer"); console.warn("in"); console.group(); console.log("deeper"); console.groupEnd(); console.info("in again")
      console.groupEnd(); console.log("out"); console.count(); console.count(); console.count("x"); console.countReset(); console.count()
      console.assert(true, "no"); console.assert(false, "yes", 1); console.dir({ a: { b: 1 } }); console.table([{ a: 1 }]); console.dirxml("xml"); console.clear()
      console.timeEnd("never")`)
    expect(lines.slice(0, 10)).toEqual([
      "log: outer",
      "warn:   in",
      "log:     deeper",
      "info:   in again",
      "log: out",
      "log: default: 1",
      "log: default: 2",
      "log: x: 1",
      "log: default: 1",
      "error: Assertion failed: yes 1",
    ])
    expect(lines[10]).toBe("log: { a: { b: 1 } }")
    expect(lines[11]).toContain("│ (idx) │ a │")
    expect(lines.slice(12)).toEqual(["log: xml", "warn: Timer 'never' does not exist"])
  })

  test("measures time", async () => {
    const { lines } = await logsOf(
      `console.time("t"); console.timeLog("t", "so far"); console.timeEnd("t")`,
    )
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^log: t: .*ms so far$/)
  })

  test("trace prints the val's stack", async () => {
    const { lines } = await logsOf("\nfunction inner() { console.trace('here', 1) }\ninner()")
    expect(lines).toEqual([
      "log: Trace: here 1\n    at inner (ada/hello.tsx:3:28)\n    at default (ada/hello.tsx:4:1)",
    ])
  })

  test("keeps groups and counts separate for each run", async () => {
    const guest = await startVal(
      `export default async (name: string) => {
      console.group(name); console.count()
      await new Promise((resolve) => setTimeout(resolve, 5))
      console.log("in"); console.groupEnd()
    }`,
      { isHttp: false },
    )
    await Promise.all([guest.call(["a"], "a"), guest.call(["b"], "b")])
    await guest.call(["c"], "c")
    await guest.settle()
    for (const name of ["a", "b", "c"])
      expect(guest.texts(name)).toEqual([name, "default: 1", "  in"])
  })

  test("captures writes to the standard streams", async () => {
    const { lines } =
      await logsOf(`process.stdout.write("one\\n"); process.stderr.write(Buffer.from("two")); Deno.stdout.writeSync(new TextEncoder().encode("three\\n"))
      await Deno.stderr.write(new TextEncoder().encode("four")); await new Promise((done) => process.stdout.write("five", "utf8", done))
      const writer = Deno.stdout.writable.getWriter(); await writer.write(new TextEncoder().encode("six")); (await import("node:console")).log("seven")`)
    expect(lines).toEqual([
      "log: one",
      "error: two",
      "log: three",
      "error: four",
      "log: five",
      "log: six",
      "log: seven",
    ])
  })
})

describe("a line of a log belongs to", () => {
  test("the run that printed it, across every kind of asynchronous work", async () => {
    const guest = await startVal(
      `import { EventEmitter } from "node:events"; import { setTimeout as wait } from "node:timers/promises"; import timers from "node:timers"
      import process from "node:process"
      const emitter = new EventEmitter()
      const shared = Promise.withResolvers<void>()
      export default async (name: string, last: boolean) => {
        const say = (how: string) => console.log(name, how)
        say("at once")
        await 0; say("after await")
        await wait(1); say("after a timer's promise")
        await new Promise<void>((done) => setTimeout(() => { say("in a timer"); done() }, 1))
        await new Promise<void>((done) => timers.setTimeout(() => { say("in a timer of node"); done() }, 1))
        await new Promise<void>((done) => setImmediate(() => { say("in an immediate"); done() }))
        await new Promise<void>((done) => queueMicrotask(() => { say("in a microtask"); done() }))
        await new Promise<void>((done) => process.nextTick(() => { say("in a tick"); done() }))
        await new Promise<void>((done) => { let n = 0; const id = setInterval(() => { say("in an interval"); if (++n === 2) { clearInterval(id); done() } }, 1) })
        emitter.once(name, () => say("in an event")); emitter.emit(name)
        if (last) shared.resolve()
        await shared.promise; say("after a promise of another run")
        for await (const n of (async function* () { yield 1; await wait(1); yield 2 })()) say("in a generator")
        await Promise.all([1, 2].map(async () => { await wait(1); say("in one of several") }))
      }`,
      { isHttp: false },
    )
    await Promise.all([
      guest.call(["a", false], "a"),
      guest.call(["b", false], "b"),
      guest.call(["c", true], "c"),
    ])
    await guest.settle()
    const lines = guest.texts("a").map((text) => text.slice(2))
    expect(lines).toHaveLength(16)
    for (const name of ["a", "b", "c"])
      expect(guest.texts(name)).toEqual(lines.map((line) => `${name} ${line}`))
  })

  test("the run that started the work, also after its response", async () => {
    const guest = await startVal(`export default (request: Request) => {
      const name = new URL(request.url).pathname
      setTimeout(async () => { console.log("late", name); await 0; console.log("later", name) }, 20)
      return new Response("answered")
    }`)
    for (const name of ["a", "b"]) await (await guest.request(`/${name}`, {}, name)).text()
    await guest.until(() => guest.logs().length === 4)
    expect([guest.texts("a"), guest.texts("b")]).toEqual([
      ["late /a", "later /a"],
      ["late /b", "later /b"],
    ])
  })

  test("the run that loaded the module, if the module started the work", async () => {
    const guest = await startVal(
      `setTimeout(() => console.log("from the module"), 30); export default () => new Response("x")`,
    )
    await Promise.all([guest.request("/"), guest.request("/")])
    await guest.until(() => guest.logs().length === 1)
    expect(guest.texts("load")).toEqual(["from the module"])
  })

  test("its run, even if the val has an AsyncLocalStorage of its own", async () => {
    const guest = await startVal(
      `import { AsyncLocalStorage } from "node:async_hooks"
      const own = new AsyncLocalStorage<string>()
      export default (name: string) => own.run("own " + name, async () => {
        await new Promise((done) => setTimeout(done, 2)); console.log(own.getStore())
        await own.exit(async () => { await 0; console.log(own.getStore() ?? "none") })
      })`,
      { isHttp: false },
    )
    await Promise.all([guest.call(["a"], "a"), guest.call(["b"], "b")])
    await guest.settle()
    expect(guest.texts("a")[0]).toBe("own a")
    expect(guest.texts("b")[0]).toBe("own b")
    expect(guest.logs("a")).toHaveLength(2)
  })
})

describe("sendLog", () => {
  test("sends lines before the val blocks its thread, in their order", async () => {
    const guest = await startVal(
      `export default (lines: number) => {
      for (let line = 1; line <= lines; line += 1) console.log("line", line)
      console.error("before")
      while (true) {}
    }`,
      { isHttp: false },
    )
    void guest.call([100], "one").catch(() => {})
    await guest.message((message) => message.kind === "log" && message.message === "before")
    const lines = Array.from({ length: 100 }, (_, index) => `line ${index + 1}`)
    expect(guest.texts("one")).toEqual([...lines, "before"])
  })

  test("sends what a module logs before it blocks", async () => {
    const guest = await startGuest()
    void guest.load(`console.log("before"); while (true) {}`).catch(() => {})
    await guest.message((message) => message.kind === "log")
    expect(guest.texts("load")).toEqual(["before"])
  })

  test("sends the first and the last lines of a long log, and counts the others", async () => {
    const { guest, lines, logCount } = await logsOf(
      `console.log("0123456789"); console.log("äöü€😀"); console.log("gone"); console.log("last")`,
      { logBytesMax: 20 },
    )
    expect(lines).toEqual(["log: 0123456789", "log: last"])
    expect(logCount).toBe(2)
    expect(guest.messages.filter(({ kind }) => kind === "logs_skipped")).toEqual([
      { kind: "logs_skipped", run: "one", lines: 2 },
    ])
    await guest.call([], "two")
    await guest.settle()
    expect(guest.texts("two")).toEqual(["0123456789", "last"])
  })

  test("truncates a line that is longer than the limit", async () => {
    const { lines } = await logsOf(`console.log("äöü€😀".repeat(9))`, { logBytesMax: 20 })
    expect(lines).toEqual(["log: äöü€😀äöü"])
  })

  test("sends the last lines of a run that goes on", async () => {
    const guest = await startVal(
      `export default async () => {
      for (let line = 1; line <= 10_000; line += 1) console.log("line", line)
      await new Promise((done) => setTimeout(done, 60_000))
    }`,
      { isHttp: false, limits: { logBytesMax: 10_000 } },
    )
    void guest.call([], "one").catch(() => {})
    await guest.message((message) => message.kind === "log" && message.message === "line 10000")
    const sent = guest.texts("one")
    const skipped = guest.messages.flatMap((it) => (it.kind === "logs_skipped" ? [it.lines] : []))
    expect(sent.length + skipped.reduce((sum, lines) => sum + lines, 0)).toBe(10_000)
    expect(sent.slice(0, 2)).toEqual(["line 1", "line 2"])
    expect(sent.slice(-2)).toEqual(["line 9999", "line 10000"])
    expect(sent.length).toBeLessThan(2_000)
  })

  test("drops lines rather than buffer them all when the host does not read", async () => {
    const guest = await startVal(
      `export default async (bytes: number) => {
      for (let sent = 0; sent < bytes; sent += 10_000) { console.log("x".repeat(10_000)); if (sent % 1_000_000 === 0) await new Promise((done) => setTimeout(done, 1)) }
      return Deno.memoryUsage().rss
    }`,
      { isHttp: false, limits: { logBytesMax: 1_000_000_000 } },
    )
    const before = (await guest.call([0])).value as number
    guest.pause()
    const after = (await guest.call([200_000_000], "flood")).value as number
    expect(after - before).toBeLessThan(60_000_000)
    guest.resume()
    await guest.message((message) => message.kind === "logs_skipped" && message.run === "flood")
    expect(guest.logs("flood").length).toBeLessThan(1_000)
    await guest.call([1], "next")
    await guest.settle()
    expect(guest.logs("next")).toHaveLength(1)
  })
})

describe("toUserText", () => {
  test("shows a logged error with the val's lines and names", async () => {
    const { guest, lines } = await logsOf(
      `console.error(new Error("seen"));\n console.log({ nested: new Error("inside") }); console.log("look at this")`,
    )
    expect(lines[0]).toBe("error: Error: seen\n    at default (ada/hello.tsx:2:44)")
    expect(lines[1]).toContain("at default (ada/hello.tsx:3:")
    expect(lines.join("\n")).not.toContain(guest.folder)
    expect(lines[2]).toBe("log: look at this")
  })
})
