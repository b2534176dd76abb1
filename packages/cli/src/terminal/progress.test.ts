import { describe, expect, test } from "bun:test"
import type { Interruption } from "../interruption.ts"
import { createOutput, type OutputMode } from "../output/output.ts"
import { createProgress } from "./progress.ts"
import { toProgressLine, toSize } from "./progress-line.ts"

/**
 * A terminal as far as progress uses it: `\r` goes to the left, `\b` one back, everything else is
 * written over what is there.
 */
function toVisibleLines(written: string): readonly string[] {
  return written.split("\n").map((line) => {
    const cells: string[] = []
    let at = 0
    for (const character of line) {
      if (character === "\r") at = 0
      else if (character === "\b") at -= 1
      else cells[at++] = character
    }
    return cells.join("").trimEnd()
  })
}

function open({
  isTerminal = true,
  mode = "human" as OutputMode,
  width = 80,
  total = 100 as number | undefined,
  unit = "vals",
} = {}) {
  const written = { out: "", error: "" }
  const endings = new Set<() => unknown>()
  const interruption: Interruption = {
    onEnd(tidy) {
      endings.add(tidy)
      return () => endings.delete(tidy)
    },
    isEnding: () => false,
    ignoreInterrupts: () => () => {},
  }
  const output = createOutput({
    mode,
    width,
    hasColour: false,
    hasErrorColour: false,
    isErrorTerminal: isTerminal,
    writeOut: (text) => {
      written.out += text
    },
    writeError: (text) => {
      written.error += text
    },
  })
  const clock = { nowMs: 1_000_000 }
  const screen = { isTerminal, width: () => width, nowMs: () => clock.nowMs }
  const progress = createProgress(
    { output, interruption },
    { label: "Exporting", unit, total },
    screen,
  )
  const pass = (ms: number, done: number) => {
    clock.nowMs += ms
    progress.set(done)
    progress.tick()
  }
  return { progress, written, endings, pass, lines: () => toVisibleLines(written.error) }
}

describe("createProgress", () => {
  test("redraws one line on a terminal, with progress, rate and remaining time", () => {
    const { progress, pass, lines, written } = open()
    pass(0, 0)
    expect(lines()).toEqual([`Exporting  ${"░".repeat(30)}  0%  0 of 100 vals`])
    pass(1_000, 20)
    expect(lines()).toEqual([
      `Exporting  ${"█".repeat(5)}${"░".repeat(21)}  20%  20 of 100 vals  20 vals/s  4 s left`,
    ])
    pass(1_000, 20)
    pass(1_000, 20)
    expect(lines()[0]).toEndWith("20%  20 of 100 vals  6.7 vals/s  12 s left")
    progress.stop()
    expect(lines()).toEqual([""])
    expect(written.out).toBe("")
    expect(written.error).not.toContain("\x1b")
  })

  test("writes nothing while nothing changes, and nothing after it is stopped", () => {
    const { progress, pass, written } = open({ total: undefined })
    pass(0, 3)
    const before = written.error
    pass(0, 3)
    expect(written.error).toBe(before)
    progress.stop()
    const after = written.error
    pass(1_000, 4)
    progress.stop()
    expect(written.error).toBe(after)
  })

  test("ends when the program is interrupted, and reads nothing afterwards", () => {
    const { endings, pass, lines, progress } = open()
    pass(0, 1)
    for (const tidy of [...endings]) tidy()
    expect(lines()).toEqual([""])
    expect(endings.size).toBe(0)
    progress.stop()
  })

  test("prints remarks above the line", () => {
    const { progress, pass, lines } = open()
    pass(0, 1)
    progress.note("One val was left out")
    pass(0, 1)
    expect(lines()).toEqual([
      "One val was left out",
      `Exporting  ${"░".repeat(30)}  1%  1 of 100 vals`,
    ])
    progress.stop()
  })

  test("prints a line from time to time in a pipe, without a bar", () => {
    const { progress, pass, written } = open({
      isTerminal: false,
      mode: "plain",
      unit: "bytes",
      total: 90_000_000,
    })
    for (let second = 0; second < 59; second++) pass(1_000, second * 1_000_000)
    expect(written.error).toBe("Exporting  32%  29.0 MB of 90.0 MB  1.0 MB/s  1 min 1 s left\n")
    progress.stop()
    expect(written.error.split("\n")).toHaveLength(2)
  })

  test("the rate is that of the last seconds", () => {
    const { progress, pass, lines } = open({ total: 10_000 })
    for (let second = 0; second <= 10; second++) pass(1_000, second * 100)
    for (let second = 1; second <= 6; second++) pass(1_000, 1_000 + second * 10)
    expect(lines()[0]).toContain("  10 vals/s  ")
    progress.stop()
  })
})

describe("toProgressLine", () => {
  const state = {
    label: "Backing up",
    unit: "bytes",
    done: 50_000_000,
    total: 100_000_000,
    perSecond: 1_000_000,
  }

  test("is never wider than the terminal", () => {
    for (let width = 1; width <= 120; width++)
      expect([width, Bun.stringWidth(toProgressLine(state, width)) <= width]).toEqual([width, true])
  })

  test("drops the least important parts first", () => {
    const at = (width: number) => toProgressLine(state, width)
    expect(at(75)).toBe(
      "Backing up  ████████░░░░░░░░  50%  50.0 MB of 100.0 MB  1.0 MB/s  50 s left",
    )
    expect(at(40)).toBe("Backing up  50%  50.0 MB of 100.0 MB")
    expect(at(20)).toBe("Backing up  50%")
    expect(at(6)).toBe("Backi…")
  })

  test("shows only what is known", () => {
    const line = (change: object) => toProgressLine({ ...state, ...change }, 60)
    expect(line({ total: undefined })).toBe("Backing up  50.0 MB  1.0 MB/s")
    expect(line({ total: undefined, perSecond: undefined })).toBe("Backing up  50.0 MB")
    expect(line({ perSecond: 0 })).toEndWith("  50%  50.0 MB of 100.0 MB")
    expect(line({ total: 0, done: 0, unit: "vals", perSecond: 0 })).toBe("Backing up  0 of 0 vals")
    expect(line({ done: 300_000_000 })).toContain("  100%  ")
  })
})

test("toSize formats a size with a unit", () => {
  expect([0, 999, 1_000, 1_234_567, 5e9, 7e15].map(toSize)).toEqual([
    "0 bytes",
    "999 bytes",
    "1.0 kB",
    "1.2 MB",
    "5.0 GB",
    "7000.0 TB",
  ])
})
