import { describe, expect, test } from "bun:test"
import { CpuWatch } from "./cpu-watch.ts"

const usualStepMs = 100
const cores = 4

/** Four cores, and a watch over the processes that use them. */
class Machine {
  readonly watch: CpuWatch
  nowMs = 0
  hogs = 0

  constructor(cpuMsMax = 30_000) {
    this.watch = new CpuWatch(cpuMsMax, () => this.hogs++, cores)
  }

  start(key = "loop", priority?: "patient"): FakeProcess {
    const process = new FakeProcess(key)
    this.watch.add(process, this.nowMs, priority)
    return process
  }

  /** Each uses a share of a core for some time, and may want more. */
  run(
    processes: readonly FakeProcess[],
    share: number,
    {
      steps = 1,
      stepMs = usualStepMs,
      wantsMore,
    }: { steps?: number; stepMs?: number; wantsMore: boolean },
  ): void {
    for (let step = 0; step < steps; step++) {
      this.nowMs += stepMs
      for (const process of processes) {
        process.isRunnable = wantsMore
        process.cpuMs += share * stepMs
      }
      this.watch.check(processes, this.nowMs)
    }
  }
}

class FakeProcess {
  readonly program: { readonly key: string }
  runs = 1
  runsEnded = 0
  cpuMs = 0
  isRunnable = false
  readonly #seen: string[] = []
  readonly sandbox = {
    readCpuMs: () => this.cpuMs,
    readMemoryBytes: () => 5,
    isRunnable: () => this.isRunnable,
    setPriority: (priority: string) => void this.#seen.push(priority),
    stop: async (reason: string, message: string) =>
      void this.#seen.push(`stopped for ${reason}: ${message}`),
  }

  constructor(key: string) {
    this.program = { key }
  }

  retire(): void {
    this.#seen.push("retired")
  }

  /** What was done to the process since the last call. */
  get seen(): string[] {
    return this.#seen.splice(0)
  }
}

describe("CpuWatch", () => {
  test("gives a busy process the low priority, and the normal one when it pauses", () => {
    const machine = new Machine()
    const process = machine.start()
    expect(process.seen).toEqual(["normal"])
    machine.run([process], 0.4, { steps: 5, wantsMore: true })
    expect(process.seen).toEqual([])
    machine.run([process], 1, { wantsMore: true })
    expect(process.seen).toEqual(["low"])
    machine.run([process], 0.9, { steps: 20, wantsMore: true })
    expect(process.seen).toEqual([])
    machine.run([process], 0.01, { steps: 4, wantsMore: false })
    expect(process.seen).toEqual(["normal"])
  })

  test("lets every process work for a moment", () => {
    const machine = new Machine()
    const process = machine.start()
    machine.run([process], 0.8, { stepMs: 25, wantsMore: true })
    expect(process.seen).toEqual(["normal"])
    machine.run([process], 0.8, { stepMs: 25, wantsMore: true })
    expect(process.seen).toEqual(["low"])
  })

  test("finds loops on a crowded machine by their fair share, and ignores processes that use less", () => {
    const machine = new Machine()
    const [crowd, modest] = [
      Array.from({ length: 20 }, (_, index) => machine.start(`loop${index}`)),
      machine.start("modest"),
    ]
    for (let step = 0; step < 5; step++) {
      modest.cpuMs += 0.06 * usualStepMs
      machine.run([...crowd, modest], 0, { wantsMore: true })
      for (const process of crowd) process.cpuMs += 0.19 * usualStepMs
    }
    expect(crowd.map((process) => process.seen)).toEqual(crowd.map(() => ["normal", "low"]))
    expect(modest.seen).toEqual(["normal"])
  })

  test("does not count waiting for the CPU, or a short rest, as a pause", () => {
    const machine = new Machine()
    const process = machine.start()
    machine.run([process], 1, { wantsMore: true })
    expect(process.seen).toEqual(["normal", "low"])
    machine.run([process], 0, { steps: 100, wantsMore: true })
    expect(process.seen).toEqual([])
    const again = machine.start()
    machine.run([again], 0, { steps: 20, wantsMore: true })
    expect(again.seen).toEqual(["low"])
    const other = machine.start("other")
    machine.run([other], 0.8, { stepMs: 25, wantsMore: true })
    machine.run([other], 0, { stepMs: 25, wantsMore: false })
    machine.run([other], 0.8, { stepMs: 25, wantsMore: true })
    expect(other.seen).toEqual(["normal", "low"])
  })

  test("ends a process that never pauses, however little CPU it gets at a time", () => {
    const machine = new Machine(1_000)
    const process = machine.start()
    machine.run([process], 1, { steps: 9, wantsMore: true })
    expect(process.seen).toEqual(["normal", "low"])
    machine.run([process], 0.05, { steps: 40, wantsMore: true })
    expect(process.seen.slice(0, 2)).toEqual([
      "retired",
      "stopped for cpu: it used more CPU time than the limit of 1 s",
    ])
  })

  test("ignores a busy process whose runs end", () => {
    const machine = new Machine(1_000)
    const process = machine.start()
    for (let step = 0; step < 50; step++) {
      process.runsEnded++
      machine.run([process], 1, { wantsMore: true })
    }
    expect(process.seen).toEqual(["normal"])
  })

  test("starts a program at the priority of its last process, until one of its runs ends", () => {
    const machine = new Machine()
    machine.run([machine.start()], 1, { wantsMore: true })
    const again = machine.start()
    expect([again.seen, machine.start("another").seen]).toEqual([["low"], ["normal"]])
    again.runsEnded++
    machine.run([again], 0.1, { wantsMore: true })
    expect([again.seen, machine.start().seen]).toEqual([["normal"], ["normal"]])
  })

  test("calls onHog once for each process that stays busy at low priority", () => {
    const machine = new Machine()
    const [loop, heavy] = [machine.start("loop"), machine.start("heavy")]
    machine.run([loop, heavy], 1, { steps: 3, wantsMore: true })
    heavy.runsEnded++
    machine.run([loop, heavy], 1, { wantsMore: true })
    expect([heavy.seen, machine.hogs]).toEqual([["normal", "low", "normal"], 0])
    machine.run([loop], 1, { steps: 20, wantsMore: true })
    expect([loop.seen, machine.hogs]).toEqual([["normal", "low"], 1])
  })

  test("gives a patient process the normal priority when its first run has ended", () => {
    const machine = new Machine()
    const process = machine.start("new", "patient")
    machine.run([process], 0.1, { steps: 2, wantsMore: true })
    expect(process.seen).toEqual(["patient"])
    process.runsEnded++
    machine.run([process], 0.1, { wantsMore: true })
    expect(process.seen).toEqual(["normal"])
  })

  test("memoryOf returns the last measurement until the process is deleted", () => {
    const machine = new Machine()
    const processes = [machine.start(), machine.start()]
    for (const process of processes) process.runs = 0
    machine.run(processes, 0, { stepMs: 25, wantsMore: false })
    expect(processes.map((process) => machine.watch.memoryOf(process))).toEqual([5, 5])
    for (const process of processes) machine.watch.delete(process)
    expect(processes.map((process) => machine.watch.memoryOf(process))).toEqual([0, 0])
  })
})
