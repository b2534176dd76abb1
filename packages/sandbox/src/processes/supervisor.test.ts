import { afterEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createMask } from "@hamlet/kit"
import { waitUntil } from "@hamlet/kit/testing"
import { findDeno } from "../../../../scripts/find-deno.ts"
import type { OutgoingRequest } from "../program/outgoing-request.ts"
import type {
  CallOutcome,
  HttpOutcome,
  LogLine,
  Program,
  RunError,
  RunListener,
  RunSlot,
} from "../program/runner.ts"
import { toStoredBundle } from "../program/stored-bundle.ts"
import { sandboxLimits } from "../sandboxes/sandbox-limits.ts"
import { Sandboxes } from "../sandboxes/sandboxes.ts"
import { readResponseText } from "../sandboxes/testing/program-response.ts"
import { toBundle } from "../sandboxes/testing/to-bundle.ts"
import { type RunnerLimits, runnerLimits } from "./runner-limits.ts"
import { Supervisor } from "./supervisor.ts"

/** Limits that a test may change while it goes on. */
type OpenLimits = { -readonly [Name in keyof RunnerLimits]: RunnerLimits[Name] }

/** How long a run waits for a process, which takes long to start on a busy machine. */
const processWaitMsMax = 60_000

/** A supervisor with real processes. */
class Stage {
  readonly supervisor: Supervisor
  readonly sandboxes: Sandboxes
  readonly limits: OpenLimits
  /** For each process that was started, when, and whether a run waited for it. */
  readonly launches: { readonly atMs: number; readonly isAwaited: boolean }[] = []
  readonly #folder: string

  static async open(limits: Partial<RunnerLimits> = {}, denoPath = findDeno()): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), "hamlet-test-"))
    const sandboxes = await Sandboxes.create(
      {
        isolation: "auto",
        dataDir: folder,
        baseUrl: "http://hamlet.test",
        importHosts: [],
        limits: { ...sandboxLimits, startMsMax: processWaitMsMax },
        denoPath,
      },
      () => {},
    )
    const usual = { ...runnerLimits, waitMsMax: processWaitMsMax, readyMin: 0, readyMax: 2 }
    return new Stage(folder, sandboxes, { ...usual, ...limits })
  }

  constructor(folder: string, sandboxes: Sandboxes, limits: RunnerLimits) {
    this.#folder = folder
    this.limits = { ...limits }
    this.sandboxes = sandboxes
    const launch = (isAwaited: boolean) => {
      this.launches.push({ atMs: performance.now(), isAwaited })
      return sandboxes.launch(isAwaited)
    }
    this.supervisor = new Supervisor(
      { launch, hurry: () => sandboxes.hurry(), isolation: () => "", onAvailability: () => {} },
      this.limits,
    )
  }

  async stop(): Promise<void> {
    await this.supervisor.stop()
    await this.sandboxes.stop()
    rmSync(this.#folder, { recursive: true })
  }
}

class Run implements RunListener {
  readonly id = Bun.randomUUIDv7()
  readonly logs: LogLine[] = []
  readonly errors: RunError[] = []
  readonly depth = 0
  readonly outgoing: OutgoingRequest[] = []
  isTruncated = false

  sent(request: OutgoingRequest): void {
    this.outgoing.push(request)
  }

  log(line: LogLine): void {
    this.logs.push(line)
  }

  skipLogs(): void {
    this.isTruncated = true
  }

  fail(error: RunError): void {
    this.errors.push(error)
  }
}

let stage: Stage
const ended: string[] = []

afterEach(async () => {
  await stage.stop()
  ended.length = 0
})

function toProgram(code: string, about: Partial<Program> = {}): Program {
  const name = about.label ?? "ada/hello"
  const version = about.version ?? 1
  const entryUrl = `http://hamlet.test/v/${name}@${version}-main/main.tsx`
  return {
    key: `${name}@${version}`,
    group: name,
    line: name,
    version,
    isHttp: true,
    accountId: "ada",
    label: name,
    entryUrl,
    endpoint: "http://ada-hello.hamlet.test",
    readFile: async (path) => path && `text of ${path}`,
    isMeant: (selection) => selection === name,
    load: async () => ({
      modules: [{ url: entryUrl, code }],
      bundles: [],
      env: { GREETING: "hello" },
      substitutions: [],
      mask: await createMask(new Map([["KEY", "s3cret"]])),
      end: () => void ended.push(name),
    }),
    ...about,
  }
}

const request = {
  method: "GET",
  host: "ada-hello.hamlet.test",
  target: "/x?y=1",
  body: null,
  headers: [],
}

async function fetchOnce(
  program: Program,
  target = "/",
  run = new Run(),
): Promise<{ readonly text: string; readonly outcome: HttpOutcome; readonly run: Run }> {
  const slot = await stage.supervisor.acquire(program, run)
  const outcome = await slot.fetch({ ...request, target, headers: [] })
  const text =
    outcome.kind === "responded"
      ? await readResponseText(outcome.response)
      : `${outcome.status} ${outcome.error.name}: ${outcome.error.message}`
  slot.release()
  return { text, outcome, run }
}

async function enter(program: Program): Promise<RunSlot> {
  return await stage.supervisor.acquire(program, new Run())
}

async function callOnce(
  program: Program,
  ...args: unknown[]
): Promise<{ readonly outcome: CallOutcome; readonly run: Run }> {
  const run = new Run()
  const slot = await stage.supervisor.acquire(program, run)
  const outcome = await slot.call(args)
  slot.release()
  return { outcome, run }
}

function until(condition: () => boolean, what: string): Promise<boolean> {
  return waitUntil(condition, { what })
}

/** Responds with a number that is created once for each process. */
const identity = "const id = crypto.randomUUID(); export default () => new Response(id)"
const forever = "export default () => { while (true); }"
const waiting = "export default () => new Promise(() => {})"

const ofBob = { accountId: "bob" }
/** Holds that many megabytes in memory until it is sent a request to /go. */
function toHog(megabytes: number): string {
  return `const gate = Promise.withResolvers()
  export default async (request: Request) => {
    if (request.url.endsWith("/go")) {
      gate.resolve()
      return "gone on"
    }
    const all = Array.from({ length: ${megabytes} }, () => new Uint8Array(1024 ** 2).fill(1))
    console.log("holds")
    await gate.promise
    return all.length > 0 ? "held" : ""
  }`
}

/** What retires a process in any state. */
const retirements: readonly {
  readonly name: string
  retire(other: RunSlot | undefined): unknown
}[] = [
  {
    name: "its owner's secrets have changed",
    retire: () => stage.supervisor.retire("ada/hello"),
  },
  {
    name: "a newer version runs",
    retire: () => callOnce(toProgram(`export default () => "new"`, { isHttp: false, version: 2 })),
  },
  { name: "another run in it is cancelled", retire: (other) => other?.stop("cancelled") },
]

describe("Supervisor", () => {
  test("sends a program its request and environment, and the run its response and logs", async () => {
    stage = await Stage.open()
    const code = `export default (request: Request) => { console.log("saw s3cret"); return new Response(request.url + " " + Deno.env.get("GREETING")) }`
    const { text, run } = await fetchOnce(toProgram(code), "/x?y=1")
    expect(text).toBe("http://ada-hello.hamlet.test/x?y=1 hello")
    await until(() => run.logs.length === 1, "the log is there")
    expect(run.logs[0]).toMatchObject({ level: "log", message: "saw [secret KEY]" })
  })

  test("sends a call its arguments, and delivers its logs before its value", async () => {
    stage = await Stage.open()
    const code = `export default (a: number, b: number) => { for (let i = 0; i < 50; i++) console.log(i); return { sum: a + b, text: "s3cret" } }`
    const { outcome, run } = await callOnce(toProgram(code, { isHttp: false }), 1, 2)
    const kept = { sum: 3, text: "[secret KEY]" }
    expect(outcome).toEqual({
      kind: "returned",
      json: JSON.stringify(kept),
      kept,
      isTruncated: false,
    })
    expect(run.logs.map(({ message }) => message)).toEqual(
      Array.from({ length: 50 }, (_, index) => String(index)),
    )
  })

  test("gives a program its packages", async () => {
    stage = await Stage.open()
    const bundle = toStoredBundle(toBundle([`({ greet: () => "hello from a package" })`]))
    const code = `export default () => new Response(globalThis[Symbol.for("hamlet.packages")]("${bundle.hash}", 0).greet())`
    const program = toProgram(code)
    const load = async () => ({ ...(await program.load()), bundles: [bundle] })
    expect((await fetchOnce({ ...program, load })).text).toBe("hello from a package")
    const odd = {
      ...program,
      key: "odd",
      load: async () => ({ ...(await program.load()), bundles: [{ ...bundle, hash: "../../x" }] }),
    }
    await expect(fetchOnce(odd)).rejects.toThrow('Cannot put bundle "../../x" into the sandbox')
    await until(
      () => ended.length === 1,
      "the process is gone that could not be given its packages",
    )
    expect(stage.supervisor.status().runs).toBe(0)
  })

  test("starts no process while packages are being fetched, and lets all runs wait for them", async () => {
    stage = await Stage.open()
    const gate = Promise.withResolvers<void>()
    const program = toProgram(identity, { whenFetched: () => gate.promise })
    const answers = Promise.all([fetchOnce(program), fetchOnce(program)])
    await Bun.sleep(0)
    expect(stage.supervisor.status()).toMatchObject({ processes: 0, runs: 2 })
    gate.resolve()
    const [first, second] = await answers
    expect(first.text).toBe(second.text)
    const failing = toProgram(identity, {
      key: "failing",
      whenFetched: () => Promise.reject(new Error("still being fetched")),
    })
    await expect(fetchOnce(failing)).rejects.toThrow("still being fetched")
    expect(stage.supervisor.status()).toMatchObject({ runs: 0 })
  })

  test("binds one process for all requests to a version, also for simultaneous first ones", async () => {
    stage = await Stage.open()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fetchOnce(toProgram(identity))),
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect((await fetchOnce(toProgram(identity))).text).toBe(answers[0]?.text ?? "")
    expect((await fetchOnce(toProgram(identity, { label: "ada/other" }))).text).not.toBe(
      answers[0]?.text ?? "",
    )
  })

  test("status counts cold starts, failed ones too, and the memory of all processes", async () => {
    const memoryBytesMax = 1024 ** 3
    stage = await Stage.open({ memoryBytesMax, readyMax: 0 })
    expect(stage.supervisor.status()).toMatchObject({
      memoryBytes: 0,
      memoryBytesMax,
      coldStarts: { count: 0, sumSeconds: 0 },
    })
    for (let asked = 0; asked < 3; asked++) await fetchOnce(toProgram(identity))
    await fetchOnce(toProgram(`throw new Error("broken")`, { label: "ada/broken" }))
    await until(
      () => stage.supervisor.status().coldStarts.count === 2,
      "both have loaded, or failed to",
    )
    const { memoryBytes, coldStarts } = stage.supervisor.status()
    expect(coldStarts.sumSeconds).toBeGreaterThan(0)
    expect(memoryBytes).toBeGreaterThan(1024 ** 2)
  })

  test("lets a request finish on the old version while the new version responds", async () => {
    stage = await Stage.open()
    const slow = `export default async () => { await new Promise((resolve) => setTimeout(resolve, 400)); return new Response("old") }`
    await fetchOnce(toProgram(slow))
    const old = fetchOnce(toProgram(slow))
    expect((await fetchOnce(toProgram(`export default () => "new"`, { version: 2 }))).text).toBe(
      "new",
    )
    expect((await old).text).toBe("old")
  })

  test("does not retire the current version when an old one runs", async () => {
    stage = await Stage.open()
    const current = await fetchOnce(toProgram(identity, { version: 2 }))
    await callOnce(toProgram(identity, { version: 1 }))
    expect((await fetchOnce(toProgram(identity, { version: 2 }))).text).toBe(current.text)
  })

  test("ends a run that takes too long, reports it, and serves the next one", async () => {
    stage = await Stage.open({ runMsMax: 700 })
    const { outcome } = await fetchOnce(toProgram(forever))
    expect(outcome).toMatchObject({
      kind: "stopped",
      status: "timed_out",
      error: { message: "The run took longer than 0.7 seconds and was ended" },
    })
    await until(() => ended.length === 1, "the process is gone")
    stage.limits.runMsMax = runnerLimits.runMsMax
    expect((await fetchOnce(toProgram(`export default () => "fine"`, { version: 2 }))).text).toBe(
      "fine",
    )
  })

  test("ends a module that never finishes loading", async () => {
    stage = await Stage.open({ runMsMax: 700 })
    const program = toProgram("await new Promise(() => {}); export default () => 1")
    const outcomes = await Promise.all([fetchOnce(program), fetchOnce(program), callOnce(program)])
    for (const { outcome } of outcomes)
      expect(outcome).toMatchObject({ kind: "stopped", status: "timed_out" })
  })

  test("evaluates a module without a function in a fresh process for each call", async () => {
    stage = await Stage.open()
    const program = toProgram(`console.log("evaluated"); export const id = crypto.randomUUID()`, {
      isHttp: false,
    })
    const first = await callOnce(program)
    const second = await callOnce(program)
    expect(first.outcome.kind).toBe("returned")
    expect(first.outcome).not.toEqual(second.outcome)
    for (const { run } of [first, second])
      expect(run.logs.map(({ message }) => message)).toEqual(["evaluated"])
    await until(() => ended.length === 2, "both processes are gone")
  })

  test("reports what the module threw while it loaded, with the author's line numbers", async () => {
    stage = await Stage.open()
    const program = toProgram(`console.log("first")\n\nthrow new TypeError("no s3cret")`)
    const run = new Run()
    const slot = await stage.supervisor.acquire(program, run)
    // The process stays for as long as it has a run, and for a second after its last one.
    const last = await enter(program)
    const outcome = await slot.fetch({ ...request })
    slot.release()
    expect(outcome).toMatchObject({
      kind: "stopped",
      status: "failed",
      error: { name: "TypeError", message: "no [secret KEY]" },
    })
    expect(outcome.kind === "stopped" && outcome.error.stack).toContain("ada/hello.tsx:3:7")
    await until(() => run.logs.length > 0, "the log is there")
    expect(run.logs.map(({ message }) => message)).toEqual(["first"])
    // The next request gets the same error from the same process.
    expect((await fetchOnce(toProgram("never read"))).text).toBe(
      "failed TypeError: no [secret KEY]",
    )
    last.release()
  })

  test("fails the runs of a killed process, and no others", async () => {
    stage = await Stage.open()
    const slot = await stage.supervisor.acquire(toProgram(waiting), new Run())
    const neighbour = await fetchOnce(toProgram(identity, { label: "ada/other" }))
    const answer = slot.fetch({ ...request })
    process.kill(guestPidOf(slot), "SIGKILL")
    expect(await answer).toMatchObject({ kind: "stopped", status: "crashed" })
    slot.release()
    expect((await fetchOnce(toProgram(identity, { label: "ada/other" }))).text).toBe(neighbour.text)
    expect((await fetchOnce(toProgram(identity))).text).not.toBe("")
  })

  test("ends the process that was idle for longest when there is no room", async () => {
    stage = await Stage.open({ processesMax: 2, readyMax: 0 })
    for (const label of ["ada/a", "ada/b", "ada/c"]) await fetchOnce(toProgram(identity, { label }))
    await until(() => ended.includes("ada/a"), "the oldest is gone")
    expect(ended).toEqual(["ada/a"])
    expect(stage.supervisor.status().processes).toBeLessThanOrEqual(2)
  })

  test("rejects a run when no process becomes free in time", async () => {
    stage = await Stage.open({ processesMax: 1, readyMax: 0, shareWaitMsMax: 200 })
    const slot = await stage.supervisor.acquire(toProgram(identity), new Run())
    const refused = await Promise.resolve(
      stage.supervisor.acquire(toProgram(identity, { label: "ada/b" }), new Run()),
    ).catch((error) => error.code)
    expect(refused).toBe("overloaded")
    slot.release()
    expect(stage.supervisor.status().runs).toBe(0)
  })

  test("gives one account its share, and another account a process at once", async () => {
    const limits = { processesMax: 4, processesPerAccountMax: 3, readyMax: 0 }
    stage = await Stage.open({ ...limits, shareWaitMsMax: 10_000 })
    const slots = await Promise.all(
      [1, 2, 3].map((number) => enter(toProgram(identity, { label: `ada/${number}` }))),
    )
    const more = enter(toProgram(identity, { label: "ada/4" })).catch(({ code }) => code)
    await until(() => stage.supervisor.status().waiting === 1, "the one too many waits")
    expect(
      (await fetchOnce(toProgram(`export default () => "here"`, { ...ofBob, label: "bob/hello" })))
        .text,
    ).toBe("here")
    // After a while it fails with an error that names its own account.
    expect(await more).toBe("too_many_runs")
    for (const slot of slots) slot.release()
  })

  test("counts an idle process again when it gets a run, and lets runs beyond the share wait", async () => {
    stage = await Stage.open({ processesMax: 4, processesPerAccountMax: 3, readyMax: 0 })
    const programs = [1, 2, 3, 4].map((number) => toProgram(identity, { label: `ada/${number}` }))
    for (const program of programs) await fetchOnce(program)
    const slots = programs.map((program) => enter(program))
    await until(() => stage.supervisor.status().waiting === 1, "the one too many waits")
    expect(
      (await fetchOnce(toProgram(identity, { ...ofBob, label: "bob/hello" }))).text,
    ).toHaveLength(36)
    for (const slot of slots.slice(0, 3)) (await slot).release()
    ;(await slots[3])?.release()
    expect(stage.supervisor.status()).toMatchObject({ runs: 0, waiting: 0 })
  })

  test("ends a process of the largest account when another account has waited too long", async () => {
    stage = await Stage.open({ processesMax: 2, processesPerAccountMax: 2, readyMax: 0 })
    const runs = [1, 2].map((number) =>
      fetchOnce(toProgram(waiting, { label: `ada/hold-${number}` })),
    )
    await until(() => stage.supervisor.status().processes === 2, "all processes are at work")
    expect(
      (await fetchOnce(toProgram(`export default () => "here"`, { ...ofBob, label: "bob/hello" })))
        .text,
    ).toBe("here")
    expect((await Promise.race(runs)).text).toContain("the account had the most of them")
  })

  test("ends the largest process of the account that uses the most memory", async () => {
    // Reached before one process reaches its own limit, and not before the largest is the largest.
    stage = await Stage.open({ memoryBytesMax: 230 * 1024 ** 2, readyMax: 0 })
    const programs = [
      toProgram(toHog(1), { ...ofBob, label: "bob/hello" }),
      toProgram(toHog(30), { label: "ada/small" }),
    ]
    const runs = programs.map(() => new Run())
    const held = programs.map((program, index) => fetchOnce(program, "/", runs[index]))
    await until(() => runs.every(({ logs }) => logs.length > 0), "both hold their memory")
    const large = await fetchOnce(toProgram(toHog(170), { label: "ada/large" }))
    expect(large.text).toContain(
      "crashed ProcessEnded: The process ended: the memory that the server has for programs was used up",
    )
    for (const program of programs) await fetchOnce(program, "/go")
    expect((await Promise.all(held)).map(({ text }) => text)).toEqual(["held", "held"])
  })

  test("reports why no process can be started, and continues when it works again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "hamlet-test-deno-"))
    const denoPath = join(folder, "deno")
    chmodSync(folder, 0o755)
    copyFileSync(findDeno(), denoPath, constants.COPYFILE_FICLONE)
    try {
      stage = await Stage.open({ readyMin: 1, readyMax: 1 }, denoPath)
      expect((await fetchOnce(toProgram(identity))).text).toHaveLength(36)
      renameSync(denoPath, `${denoPath}-away`)
      // Processes that were ready before still work.
      const problem = `Cannot start a sandbox: Deno is no longer at "${denoPath}"`
      for (let number = 0; stage.supervisor.status().problem === undefined; number++)
        await fetchOnce(toProgram(identity, { label: `ada/${number}` })).catch(({ code }) =>
          expect(code).toBe("sandbox_unavailable"),
        )
      expect(stage.supervisor.status().problem).toBe(problem)
      renameSync(`${denoPath}-away`, denoPath)
      await until(
        () => stage.supervisor.status().problem === undefined,
        "processes can be started again",
      )
      expect((await fetchOnce(toProgram(identity, { label: "ada/again" }))).text).toHaveLength(36)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test("ends processes that have been idle for too long", async () => {
    stage = await Stage.open({ idleMsMax: 100 })
    await fetchOnce(toProgram(identity))
    await until(() => ended.length === 1, "it is gone")
  })

  test("starts new programs with low priority while quick programs are serving", async () => {
    stage = await Stage.open({ readyMax: 0 })
    const fetchGroup = (name: string) => fetchOnce(toProgram(identity, { key: name, group: name }))
    for (let visit = 0; visit < 11; visit++) await fetchGroup("known")
    expect(stage.launches).toMatchObject([{ isAwaited: true }])
    const launched = await waitUntil(async () => {
      const visitedMs = performance.now()
      await fetchGroup("known")
      await fetchGroup(`new ${stage.launches.length}`)
      const last = stage.launches.at(-1)
      // Another one, if the machine was too busy to start this one while the known program was serving.
      return last && last.atMs - visitedMs < 200 && last
    })
    expect(launched.isAwaited).toBe(false)
    // The known program has no more runs, so that a program that comes later is started normally.
    await waitUntil(async () => {
      await fetchGroup(`newer ${stage.launches.length}`)
      return stage.launches.at(-1)?.isAwaited
    })
  })

  test("does not retire the process of another line", async () => {
    stage = await Stage.open()
    const about = { key: "other line", label: "ada/other", group: "ada/hello" }
    const first = await fetchOnce(toProgram(identity))
    const other = await fetchOnce(toProgram(identity, { ...about, version: 2 }))
    expect((await fetchOnce(toProgram(identity))).text).toBe(first.text)
    expect(other.text).not.toBe(first.text)
  })

  test("ends the processes of the programs that are meant, with their runs, and no others", async () => {
    stage = await Stage.open()
    const other = await fetchOnce(toProgram(identity, { label: "ada/other" }))
    const endless = toProgram("export default () => new Promise(() => {})", { isHttp: false })
    const slot = await stage.supervisor.acquire(endless, new Run())
    const outcome = slot.call([])
    stage.supervisor.endAll("ada/hello")
    expect(await outcome).toMatchObject({ kind: "stopped", status: "crashed" })
    expect((await fetchOnce(toProgram(identity, { label: "ada/other" }))).text).toBe(other.text)
  })

  test("binds a new process when its program is retired, and only then", async () => {
    stage = await Stage.open()
    const before = await fetchOnce(toProgram(identity))
    stage.supervisor.retire("bob/hello")
    expect((await fetchOnce(toProgram(identity))).text).toBe(before.text)
    stage.supervisor.retire("ada/hello")
    expect((await fetchOnce(toProgram(identity))).text).not.toBe(before.text)
    // The old process stays for as long as a run may take.
    expect(ended).toEqual([])
    stage.limits.runMsMax = 1
    await until(() => ended.length === 1, "the old one is gone")
  })

  for (const { name, retire } of retirements)
    test(`lets runs finish when their process is retired while it loads: ${name}`, async () => {
      stage = await Stage.open({ runMsMax: 10_000 })
      const code = `console.log("begun"); await new Promise((resolve) => setTimeout(resolve, 700)); export default () => "done"`
      const program = toProgram(code, { isHttp: false })
      const runs = [new Run(), new Run()]
      const calls = runs.map(async (run) => {
        const slot = await stage.supervisor.acquire(program, run)
        return { slot, outcome: slot.call([]) }
      })
      const [first, second] = await Promise.all(calls)
      await until(() => runs.some(({ logs }) => logs.length === 1), "the module is being evaluated")
      const retired = retire(second?.slot)
      expect(await first?.outcome).toEqual({
        kind: "returned",
        json: JSON.stringify("done"),
        kept: "done",
        isTruncated: false,
      })
      first?.slot.release()
      second?.slot.release()
      await retired
      // Later runs do not use it.
      expect((await callOnce(program)).outcome).toMatchObject({ kept: "done" })
    })

  test("ends the process of a module without a function with its run when it is retired while loading", async () => {
    stage = await Stage.open({ runMsMax: 10_000 })
    const code = `console.log("begun"); await new Promise((resolve) => setTimeout(resolve, 700)); export const value = 5`
    const run = new Run()
    const slot = await stage.supervisor.acquire(toProgram(code, { isHttp: false }), run)
    const outcome = slot.call([])
    await until(() => run.logs.length === 1, "the module is being evaluated")
    stage.supervisor.retire("ada/hello")
    expect(await outcome).toEqual({
      kind: "returned",
      json: JSON.stringify(5),
      kept: 5,
      isTruncated: false,
    })
    slot.release()
    await until(() => ended.length === 1, "the process is gone")
  })

  test("delivers logs and errors of a run after its response, up to the run's time limit", async () => {
    stage = await Stage.open()
    const code = `export default () => { setTimeout(() => { console.log("late"); throw new Error("later") }, 50); return new Response("now") }`
    const { text, run } = await fetchOnce(toProgram(code))
    expect(text).toBe("now")
    await until(() => run.errors.length === 1, "the error is heard")
    expect(run.logs.map(({ message }) => message)).toEqual(["late"])
    expect(run.errors[0]).toMatchObject({ name: "Error", message: "later" })
  })

  test("binds again when the process was stopped by a run that was cancelled while it waited", async () => {
    stage = await Stage.open()
    const isRead = Promise.withResolvers<void>()
    const program = toProgram(`export default () => "ran"`, { isHttp: false })
    let loads = 0
    const slow = {
      ...program,
      async load() {
        loads += 1
        await isRead.promise
        return program.load()
      },
    }
    // A cancelled run of the queue stops as soon as it has its slot.
    const cancelled = Object.assign(new Run(), {
      begin: async (slot: RunSlot) => slot.stop("cancelled"),
    })
    const ofQueue = () => Object.assign(new Run(), { begin: async () => {} })
    const neighbours = [new Run(), ofQueue(), new Run()]
    const first = stage.supervisor.acquire(slow, cancelled)
    const others = neighbours.map(async (run) => {
      const slot = await stage.supervisor.acquire(slow, run)
      const outcome = await slot.call([])
      slot.release()
      return outcome
    })
    await until(() => loads === 1, "the process to bind")
    isRead.resolve()
    const slot = await first
    expect(await slot.call([])).toMatchObject({ status: "cancelled" })
    expect(await Promise.all(others)).toMatchObject(neighbours.map(() => ({ kind: "returned" })))
    // The other runs share one more process.
    expect([loads, stage.supervisor.status().runs]).toEqual([2, 0])
  })

  test("ends a process that a cancelled run keeps from responding, and no other one", async () => {
    stage = await Stage.open({ runMsMax: 600_000, stuckMsMax: 300 })
    const code = `export default async (how) => {
      console.log(how)
      if (how === "loops") for (;;);
      await new Promise((resolve) => setTimeout(resolve, how === "waits" ? 600_000 : 1_500))
      return how
    }`
    const begin = async (how: string) => {
      const run = new Run()
      const slot = await stage.supervisor.acquire(toProgram(code, { isHttp: false }), run)
      const outcome = slot.call([how])
      await until(() => run.logs.length === 1, "the run to begin")
      return { slot, outcome }
    }
    // One that waits ends alone: the one beside it goes on.
    const [waits, ends] = [await begin("waits"), await begin("ends")]
    waits.slot.stop("cancelled")
    expect(await waits.outcome).toMatchObject({ status: "cancelled" })
    expect(await ends.outcome).toMatchObject({ kind: "returned" })
    ends.slot.release()

    const [neighbour, loops] = [await begin("waits"), await begin("loops")]
    loops.slot.stop("cancelled")
    expect(await loops.outcome).toMatchObject({ status: "cancelled" })
    expect(await neighbour.outcome).toMatchObject({
      status: "crashed",
      error: { message: expect.stringContaining("did not respond") },
    })
    neighbour.slot.release()
  })

  test("starts no process for a client that has already disconnected", async () => {
    stage = await Stage.open()
    const program = toProgram(`export default () => "ran"`, { isHttp: false })
    const left = stage.supervisor.acquire(program, new Run(), { signal: AbortSignal.abort() })
    await expect(left).rejects.toThrow("aborted")
    expect([stage.launches.length, stage.supervisor.status().runs]).toEqual([0, 0])
  })

  test("runs others in a process whose first run could not begin", async () => {
    stage = await Stage.open()
    const program = toProgram(`export default () => "ran"`, { isHttp: false })
    const refused = Object.assign(new Run(), {
      begin: () => Promise.reject(new Error("taken")),
    })
    const first = stage.supervisor.acquire(program, refused)
    const other = callOnce(program)
    await expect(first).rejects.toThrow("taken")
    expect((await other).outcome).toMatchObject({ kind: "returned" })
    expect(stage.supervisor.status().runs).toBe(0)
  })

  test("stop ends one of several runs, and the process with the last run", async () => {
    stage = await Stage.open()
    const code = `export default () => new Promise((resolve) => setTimeout(() => resolve(new Response("done")), 500))`
    const [first, second] = await Promise.all([
      stage.supervisor.acquire(toProgram(code), new Run()),
      stage.supervisor.acquire(toProgram(code), new Run()),
    ])
    const [stopped, finished] = [first.fetch({ ...request }), second.fetch({ ...request })]
    first.stop("cancelled")
    expect(await stopped).toMatchObject({ kind: "stopped", status: "cancelled" })
    expect(await finished).toMatchObject({ kind: "responded" })
    second.release()
    expect(stage.supervisor.status().runs).toBe(0)
  })

  test("opens WebSockets, and returns the response of a program that refuses one", async () => {
    stage = await Stage.open()
    const code = `export default (request: Request) => {
      if (new URL(request.url).pathname === "/no") return new Response("not here", { status: 418, headers: { "x-why": "tea" } })
      const { socket, response } = Deno.upgradeWebSocket(request, { protocol: "echo" })
      socket.onmessage = (event) => socket.send("echo " + event.data)
      return response
    }`
    const headers = [["sec-websocket-protocol", "echo"]] as const
    const slot = await stage.supervisor.acquire(toProgram(code), new Run())
    const outcome = await slot.connect({ ...request, headers })
    if (outcome.kind !== "opened") throw new Error(`not opened: ${JSON.stringify(outcome)}`)
    expect(outcome.protocol).toBe("echo")
    const answer = new Promise((resolve) =>
      outcome.socket.addEventListener("message", (event) => resolve(event.data)),
    )
    outcome.socket.send("hi")
    expect(await answer).toBe("echo hi")
    outcome.socket.close()
    slot.release()
    const other = await stage.supervisor.acquire(toProgram(code), new Run())
    const refused = await other.connect({ ...request, target: "/no", headers })
    if (refused.kind !== "refused") throw new Error(`not refused: ${JSON.stringify(refused)}`)
    expect([
      refused.response.status,
      await readResponseText(refused.response),
      new Map(refused.response.headers).get("x-why"),
    ]).toEqual([418, "not here", "tea"])
    other.release()
  })

  test("stop leaves nothing behind", async () => {
    stage = await Stage.open({ readyMin: 2 })
    stage.supervisor.start()
    await fetchOnce(toProgram(identity))
    const slot = await stage.supervisor.acquire(toProgram(identity), new Run())
    const folder = folderOf(slot)
    expect(existsSync(folder)).toBe(true)
    await stage.supervisor.stop()
    expect(existsSync(folder)).toBe(false)
    expect(ended).toEqual(["ada/hello"])
    await stage.sandboxes.stop()
    expect(existsSync(join(folder, ".."))).toBe(false)
  })
})

function folderOf(slot: RunSlot): string {
  const { socketPath } = (slot as unknown as { process: { sandbox: { socketPath: string } } })
    .process.sandbox
  return join(socketPath, "..", "..")
}

/**
 * The process whose command line contains the sandbox folder, or the one inside bubblewrap.
 */
function guestPidOf(slot: RunSlot): number {
  const folder = folderOf(slot)
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const found = pids.map(Number).filter((pid) => commandOf(pid).includes(folder))
  const inner = pids.map(Number).filter((pid) => found.includes(parentOf(pid)))
  const pid = inner.at(-1) ?? found.at(-1)
  if (pid === undefined) throw new Error(`there is no process for ${folder}`)
  return pid
}

function commandOf(pid: number): string {
  return readQuietly(`/proc/${pid}/cmdline`)
}

function parentOf(pid: number): number {
  return Number(/PPid:\s+(\d+)/.exec(readQuietly(`/proc/${pid}/status`))?.[1] ?? 0)
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return ""
  }
}
