import { describe, expect, spyOn, test } from "bun:test"
import { waitUntil } from "@hamlet/kit/testing"
import type { Sandbox, SandboxExit } from "../sandboxes/sandbox.ts"
import { Pool } from "./pool.ts"
import { runnerLimits } from "./runner-limits.ts"

const limits = { ...runnerLimits, readyMin: 2, readyMax: 5, launchesMax: 2, waitMsMax: 1000 }

class FakeSandboxes {
  readonly alive = new Set<object>()
  readonly problems: (string | undefined)[] = []
  launched = 0
  /** For each launch, whether it was awaited; and "hurry". */
  readonly said: (boolean | "hurry")[] = []
  isBroken = false
  problem = "no bubblewrap"
  room = Number.POSITIVE_INFINITY
  /** The launches that go on now, and the most so far. */
  launching = 0
  mostLaunching = 0
  /** Launches wait for it. */
  gate: Promise<void> | undefined
  /** The time, if the test sets it. */
  nowMs: number | undefined

  createPool(others: Partial<typeof limits> = {}): Pool {
    const launcher = {
      launch: async (isAwaited: boolean) => {
        this.said.push(isAwaited)
        this.mostLaunching = Math.max(this.mostLaunching, ++this.launching)
        if (this.gate !== undefined) await this.gate
        this.launching--
        return this.#launch()
      },
      hurry: () => void this.said.push("hurry"),
      onAvailability: (problem: string | undefined) => void this.problems.push(problem),
    }
    return new Pool(
      launcher,
      { ...limits, ...others },
      () => this.alive.size < this.room,
      () => this.nowMs ?? performance.now(),
    )
  }

  #launch(): Sandbox {
    if (this.isBroken) throw new Error(this.problem)
    this.launched++
    const exit = Promise.withResolvers<SandboxExit>()
    const sandbox = {
      exited: exit.promise,
      stop: () => {
        this.alive.delete(sandbox)
        exit.resolve({ code: undefined, signal: "SIGKILL", reason: "killed", message: "killed" })
        return exit.promise
      },
    }
    this.alive.add(sandbox)
    return sandbox as unknown as Sandbox
  }
}

describe("Pool", () => {
  test("keeps its minimum ready, and refills what is taken", async () => {
    const machine = new FakeSandboxes()
    const pool = machine.createPool()
    pool.refill()
    await waitUntil(() => pool.ready === 2)
    const sandbox = await pool.take("ada")
    await waitUntil(() => pool.ready === 2)
    expect(machine.launched).toBe(3)
    expect(machine.alive.has(sandbox)).toBe(true)
    await pool.stop()
    expect([...machine.alive]).toEqual([sandbox])
  })

  test("starts no process in the moment after one was taken, whatever sweeps", async () => {
    const machine = new FakeSandboxes()
    const pool = machine.createPool()
    pool.refill()
    await waitUntil(() => pool.ready === 2)
    await pool.take("ada")
    pool.sweep()
    expect(machine.said.length).toBe(2)
    await waitUntil(() => pool.ready === 2)
    await pool.stop()
  })

  test("gives the process that has waited longest", async () => {
    const machine = new FakeSandboxes()
    const pool = machine.createPool({ launchesMax: 1 })
    pool.refill()
    await waitUntil(() => pool.ready === 2)
    const [oldest, newest] = machine.alive
    expect(await pool.take("ada")).toBe(oldest as Sandbox)
    await waitUntil(() => pool.ready === 2)
    expect(await pool.take("ada")).toBe(newest as Sandbox)
    await pool.stop()
  })

  test("lets accounts that wait take turns", async () => {
    const machine = new FakeSandboxes()
    machine.room = 0
    const pool = machine.createPool()
    const served: string[] = []
    const take = async (name: string) => {
      await pool.take(name.slice(0, 3))
      served.push(name)
    }
    const taken = ["ada 1", "ada 2", "ada 3", "bob 1", "bob 2"].map(take)
    expect([pool.isAwaitedBeside("ada"), pool.isAwaitedBeside("cleo")]).toEqual([true, true])
    machine.room = Number.POSITIVE_INFINITY
    pool.refill()
    await Promise.all(taken)
    expect(served).toEqual(["ada 1", "bob 1", "ada 2", "bob 2", "ada 3"])
    expect(pool.isAwaitedBeside("ada")).toBe(false)
    await pool.stop()
  })

  test("reports whether a run waits for a launch, also when the run comes later", async () => {
    const machine = new FakeSandboxes()
    const pool = machine.createPool()
    pool.refill()
    const taken = [pool.take("ada"), pool.take("ada"), pool.take("ada")]
    await Promise.all(taken)
    expect(machine.said.slice(0, 6)).toEqual([false, false, "hurry", "hurry", "hurry", true])
    await pool.stop()
  })

  test("keeps none ready for takes that do not count", async () => {
    const machine = new FakeSandboxes()
    const pool = machine.createPool()
    await Promise.all([pool.take("ada"), pool.take("ada"), pool.take("ada"), pool.take("ada")])
    await waitUntil(() => pool.ready === 4)
    pool.uncountLastTake()
    for (let sweep = 0; sweep < 3; sweep++) pool.sweep()
    expect(pool.ready).toBe(3)
    await pool.stop()
  })

  test("serves a burst, then keeps three quarters of its limit ready for one account", async () => {
    const machine = new FakeSandboxes()
    machine.nowMs = 0
    const pool = machine.createPool({ readyMax: 8 })
    const taken = await Promise.all(Array.from({ length: 20 }, () => pool.take("ada")))
    expect(new Set(taken).size).toBe(20)
    await waitUntil(() => pool.ready === 6)
    // Long after the burst, the surplus ends one by one.
    machine.nowMs = 600_000
    for (let step = 0; step < 6; step++) pool.sweep()
    await waitUntil(() => pool.ready === limits.readyMin)
    await pool.stop()
  })

  test("starts processes before the hour at which others were taken", async () => {
    const machine = new FakeSandboxes()
    machine.nowMs = 0
    const pool = machine.createPool({ readyMax: 20 })
    await Promise.all(Array.from({ length: 12 }, () => pool.take("ada")))
    machine.nowMs = 57 * 60_000
    for (let step = 0; step < 20; step++) pool.sweep()
    expect(pool.ready).toBe(limits.readyMin)
    machine.nowMs = 58 * 60_000
    pool.sweep()
    await waitUntil(() => pool.ready === 12)
    // No run waits for them, so they start at a low priority.
    expect(machine.said.slice(-10)).toEqual(Array(10).fill(false))
    await pool.stop()
  })

  test("starts processes for runs that are expected within a minute, up to its limit", async () => {
    const machine = new FakeSandboxes()
    machine.nowMs = 0
    const pool = machine.createPool({ readyMax: 20 })
    const starts = ["ada", "bob"].flatMap((accountId) =>
      Array.from({ length: 1_000 }, () => ({ accountId, inMs: 50_000 })),
    )
    pool.expect(starts)
    pool.sweep()
    await waitUntil(() => pool.ready === 20)
    expect(machine.alive.size).toBe(20)
    // They came to nothing.
    machine.nowMs = 60_000
    for (let step = 0; step < 20; step++) pool.sweep()
    expect(pool.ready).toBe(limits.readyMin)
    await pool.stop()
  })

  test("leaves what a modest account takes each hour when a greedy one takes all", async () => {
    const machine = new FakeSandboxes()
    machine.nowMs = 0
    const pool = machine.createPool({ readyMax: 40, launchesMax: 8 })
    const takeAll = () => [
      ...Array.from({ length: 1_000 }, () => pool.take("eve")),
      ...Array.from({ length: 5 }, () => pool.take("ada")),
    ]
    await Promise.all(takeAll())
    machine.nowMs = 3_600_000
    pool.sweep()
    await waitUntil(() => pool.ready === 35)
    // Nothing starts any more: both live on what is ready.
    machine.room = 0
    const served = { eve: 0, ada: 0 }
    for (let run = 0; run < 1_000; run++)
      void pool.take("eve").then(
        () => served.eve++,
        () => {},
      )
    for (let run = 0; run < 5; run++) void pool.take("ada").then(() => served.ada++)
    await waitUntil(() => served.ada === 5)
    expect(served.eve).toBe(30)
    await pool.stop()
  })

  test("leaves nothing for others where there were none", async () => {
    const machine = new FakeSandboxes()
    machine.nowMs = 0
    const pool = machine.createPool({ readyMin: 4, readyMax: 4 })
    pool.refill()
    await waitUntil(() => pool.ready === 4)
    machine.room = 0
    await Promise.all(Array.from({ length: 4 }, () => pool.take("ada")))
    await pool.stop()
  })

  test("starts three processes for every two cores at a time, and the next when one has started", async () => {
    const machine = new FakeSandboxes()
    const gate = Promise.withResolvers<void>()
    machine.gate = gate.promise
    const pool = machine.createPool({ launchesMax: runnerLimits.launchesMax })
    const atOnce = Math.ceil(1.5 * navigator.hardwareConcurrency)
    const taken = Array.from({ length: 3 * atOnce }, () => pool.take("ada"))
    expect(machine.launching).toBe(atOnce)
    gate.resolve()
    await Promise.all(taken)
    expect(machine.mostLaunching).toBe(atOnce)
    await pool.stop()
  })

  test("replaces a ready process that dies", async () => {
    const machine = new FakeSandboxes()
    const pool = machine.createPool()
    pool.refill()
    await waitUntil(() => pool.ready === 2)
    const [first] = machine.alive
    await (first as Sandbox).stop()
    await waitUntil(() => pool.ready === 2)
    expect(machine.launched).toBe(3)
    await pool.stop()
  })

  test("rejects waiting runs when no process can be started, and tries again after a pause", async () => {
    const machine = new FakeSandboxes()
    machine.isBroken = true
    const nowMs = performance.now()
    // The time of the test stands still, so that the pause is not over by itself.
    using clock = spyOn(performance, "now").mockReturnValue(nowMs)
    const pool = machine.createPool()
    const refused = await pool.take("ada").catch((error) => error.code)
    expect(refused).toBe("sandbox_unavailable")
    const tried = machine.said.length
    clock.mockReturnValue(nowMs + 999)
    pool.refill()
    pool.sweep()
    expect(machine.said.length).toBe(tried)
    clock.mockReturnValue(nowMs + 1_000)
    pool.refill()
    expect(machine.said.length).toBeGreaterThan(tried)
    await pool.stop()
  })

  test("reports once why no process can be started, keeps trying, and reports when it works again", async () => {
    const machine = new FakeSandboxes()
    machine.isBroken = true
    const pool = machine.createPool({ readyMin: 0, readyMax: 0 })
    expect(await pool.take("ada").catch(({ code }) => code)).toBe("sandbox_unavailable")
    const tried = machine.said.length
    await waitUntil(() => {
      pool.sweep()
      return machine.said.length > tried
    })
    expect([pool.problem, machine.problems]).toEqual(["no bubblewrap", ["no bubblewrap"]])
    machine.problem = "no Deno"
    await waitUntil(() => {
      pool.sweep()
      return pool.problem === "no Deno"
    })
    expect(machine.problems).toHaveLength(1)
    machine.isBroken = false
    await waitUntil(() => {
      pool.sweep()
      return pool.problem === undefined
    })
    expect(machine.problems).toEqual(["no bubblewrap", undefined])
    await pool.stop()
  })

  test("starts nothing when there is no room, and rejects runs that have waited too long", async () => {
    const machine = new FakeSandboxes()
    machine.room = 0
    const pool = machine.createPool({ waitMsMax: 1 })
    const taken = pool.take("ada").catch((error) => error.code)
    expect(await taken).toBe("overloaded")
    expect(machine.launched).toBe(0)
    await pool.stop()
  })
})
