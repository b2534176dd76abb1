import { afterEach, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { waitUntil } from "@hamlet/kit/testing"
import { noOwner, WorkerProcessPool } from "@hamlet/sandbox"
import { codeToolsLimits } from "./code-tools.ts"
import type { ParseRequest } from "./parser-messages.ts"
import { listParsers, readEnvironment, withIdleParser } from "./testing/parser-testing.ts"

const pools: WorkerProcessPool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()))
  expect(listParsers(process.pid)).toEqual([])
})

function createPool(
  limits: Partial<typeof codeToolsLimits> = {},
  isolation: "auto" | "deno" = "auto",
) {
  const pool = new WorkerProcessPool({
    isolation,
    program: fileURLToPath(new URL("./parser-main.ts", import.meta.url)),
    limits: { ...codeToolsLimits, ...limits },
    isRepeatable: true,
  })
  pools.push(pool)
  return {
    get size() {
      return pool.size
    },
    stop: () => pool.stop(),
    async run(request: ParseRequest, owner = noOwner) {
      const outcome = await pool.run(owner, JSON.stringify(request))
      return outcome.kind === "responded" ? JSON.parse(outcome.head) : outcome
    },
  }
}

function killParsers(): void {
  for (const pid of listParsers(process.pid)) process.kill(pid, "SIGKILL")
}

/** Whether a process other than that one reads `slow`: it then needs far more memory than before. */
function isAtWork(except?: number): boolean {
  return listParsers(process.pid).some(
    (pid) => pid !== except && Number(/VmRSS:\s+(\d+)/.exec(readStatus(pid))?.[1] ?? 0) > 200_000,
  )
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8")
  } catch {
    // The process has ended since it was listed.
    return ""
  }
}

const scan = (specifier: string): ParseRequest => ({
  task: "scan_imports",
  code: `import "${specifier}"`,
})
const found = (specifier: string) => ({ kind: "imports" as const, specifiers: [specifier] })

/** Takes the parser seconds and gigabytes, and is valid. */
const slow: ParseRequest = {
  task: "scan_imports",
  code: `import "slow"; x=${"a?(b,c):d=>".repeat(2000)}e`,
}

describe("WorkerProcessPool, of parsers, ", () => {
  test("starts no process before there is work", () => {
    expect(createPool().size).toBe(0)
  })

  test("uses one process for requests one after the other", async () => {
    const pool = createPool()
    for (const specifier of ["a", "b", "c"])
      expect(await pool.run(scan(specifier))).toEqual(found(specifier))
    expect(pool.size).toBe(1)
  })

  test("uses at most processesMax processes for simultaneous requests", async () => {
    const pool = createPool({ processesMax: 2 })
    const specifiers = Array.from({ length: 50 }, (_, index) => `a${index}`)
    const outcomes = await Promise.all(specifiers.map((specifier) => pool.run(scan(specifier))))
    expect(outcomes).toEqual(specifiers.map(found))
    expect(pool.size).toBe(2)
    expect(listParsers(process.pid)).toHaveLength(2)
  })

  test("ends a process that takes too long", async () => {
    const pool = createPool({ requestMsMax: 50, memoryBytesMax: Number.POSITIVE_INFINITY })
    expect(await pool.run(slow)).toMatchObject({ kind: "timed_out", isStarted: true })
    await waitUntil(() => pool.size === 0)
    expect(listParsers(process.pid)).toEqual([])
  })

  test("ends a process that takes too much memory", async () => {
    const pool = createPool({ requestMsMax: 60_000, memoryBytesMax: 100_000_000, checkMs: 1 })
    expect(await pool.run(slow)).toMatchObject({ kind: "out_of_memory", isStarted: true })
    expect(await pool.run(scan("a"))).toEqual(found("a"))
  })

  test("reports a process that crashes on its first request", async () => {
    const pool = createPool({ requestMsMax: 60_000, memoryBytesMax: Number.POSITIVE_INFINITY })
    const outcome = pool.run(slow)
    await waitUntil(() => isAtWork())
    killParsers()
    expect(await outcome).toMatchObject({ kind: "crashed", isStarted: true })
    expect(await pool.run(scan("a"))).toEqual(found("a"))
  })

  test("retries a request once when a process crashes that has worked before", async () => {
    const pool = createPool({ requestMsMax: 60_000, memoryBytesMax: Number.POSITIVE_INFINITY })
    await pool.run(scan("a"))
    const [pid] = listParsers(process.pid)
    const outcome = pool.run(slow)
    killParsers()
    await waitUntil(() => isAtWork(pid))
    killParsers()
    expect(await outcome).toMatchObject({ kind: "crashed", isStarted: true })
  })

  test("reports a process that does not start in time", async () => {
    const pool = createPool({ startMsMax: 10 }, "deno")
    expect(await withIdleParser(() => pool.run(scan("a")))).toMatchObject({ isStarted: false })
  })

  test("replaces a process that died while it was idle", async () => {
    const pool = createPool()
    await Promise.all([pool.run(scan("a")), pool.run(scan("b"))])
    killParsers()
    expect(await Promise.all([pool.run(scan("c")), pool.run(scan("d"))])).toEqual([
      found("c"),
      found("d"),
    ])
  })

  test("replaces a process after half of its CPU time", async () => {
    const pool = createPool({ lifeSecondsMax: 0.000_001 })
    expect(await pool.run(scan("a"))).toEqual(found("a"))
    await waitUntil(() => pool.size === 0)
    expect(await pool.run(scan("b"))).toEqual(found("b"))
  })

  test("lets the kernel end a process that has used up its CPU time", async () => {
    const pool = createPool({
      lifeSecondsMax: 1,
      requestMsMax: 60_000,
      memoryBytesMax: Number.POSITIVE_INFINITY,
    })
    expect(await pool.run(slow)).toMatchObject({ kind: "crashed", isStarted: true })
  })

  test("ends idle processes", async () => {
    const pool = createPool({ idleMsMax: 0 })
    await pool.run(scan("a"))
    await waitUntil(() => pool.size === 0 && listParsers(process.pid).length === 0)
    expect(await pool.run(scan("b"))).toEqual(found("b"))
  })

  test("does not let one owner's slow code delay another owner", async () => {
    const pool = createPool({
      processesMax: 2,
      requestMsMax: 60_000,
      waitMsMax: 60_000,
      memoryBytesMax: Number.POSITIVE_INFINITY,
    })
    const slowOnes = Array.from({ length: 10 }, () => pool.run(slow, "mallory"))
    for (const specifier of ["a", "b", "c"])
      expect(await pool.run(scan(specifier), "ada")).toEqual(found(specifier))
    await pool.stop()
    const [first, ...others] = await Promise.all(slowOnes)
    expect(first).toMatchObject({ kind: "crashed" })
    expect(new Set(others.map(({ kind }) => kind))).toEqual(new Set(["stopped"]))
  })

  test("refuses requests beyond its limits, of one owner or of all", async () => {
    const pool = createPool({ processesMax: 1, waitingMax: 3, waitingPerKeyMax: 1 })
    const owners = ["ada", "ada", "ada", "bob", "eve", "joe"]
    const outcomes = await Promise.all(owners.map((owner) => pool.run(scan(owner), owner)))
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      "imports",
      "imports",
      "overloaded",
      "imports",
      "imports",
      "overloaded",
    ])
  })

  test("does not pass the server's environment to the process", async () => {
    await createPool().run(scan("a"))
    const names = listParsers(process.pid).flatMap(readEnvironment)
    expect(names).toContain("DO_NOT_TRACK")
    expect(names).not.toContain("PATH")
  })

  test("stop ends everything at once, and nothing starts afterwards", async () => {
    const pool = createPool({
      processesMax: 2,
      requestMsMax: 60_000,
      memoryBytesMax: Number.POSITIVE_INFINITY,
    })
    await Promise.all([pool.run(scan("a")), pool.run(scan("b"))])
    const running = [pool.run(slow), pool.run(slow), pool.run(scan("c"))]
    await pool.stop()
    expect(listParsers(process.pid)).toEqual([])
    expect(await Promise.all(running)).toMatchObject([
      { kind: "crashed" },
      { kind: "crashed" },
      { kind: "stopped" },
    ])
    expect(await pool.run(scan("d"))).toEqual({ kind: "stopped" })
    await pool.stop()
    await waitUntil(() => pool.size === 0)
  })
})
