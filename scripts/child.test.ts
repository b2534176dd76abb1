import { describe, expect, spyOn, test } from "bun:test"
import { readCpuSeconds, runStep } from "./child.mjs"

const isLinux = process.platform === "linux"
const work = "let sum = 0; for (let i = 0; i < 1e8; i++) sum += i % 7; console.log(sum)"

describe("readCpuSeconds", () => {
  test.skipIf(!isLinux)("counts this process and its ended children", () => {
    const before = readCpuSeconds("self") ?? Number.NaN
    Bun.spawnSync([process.execPath, "-e", work])
    expect((readCpuSeconds("self") ?? 0) - before).toBeGreaterThan(0.05)
  })

  test("knows nothing about a process that does not exist", () => {
    expect(readCpuSeconds(2 ** 30)).toBeUndefined()
  })
})

describe("runStep", () => {
  test.skipIf(!isLinux)("says how long a program took, and its CPU time alone", async () => {
    const said: string[] = []
    const spy = spyOn(console, "error").mockImplementation((text: string) => void said.push(text))
    const run = (name: string, code: string) => runStep(name, process.execPath, ["-e", code], {})
    try {
      const waiting = run("waiting", "await Bun.sleep(2_000)")
      await run("working", work)
      expect(await waiting).toMatchObject({ exitCode: 0, output: "" })
    } finally {
      spy.mockRestore()
    }
    const [working, waited] = said.map((line) => /^(\w+): (.*) s, (.*) s of CPU time$/.exec(line))
    expect([working?.[1], waited?.[1]]).toEqual(["working", "waiting"])
    expect(Number(working?.[3])).toBeGreaterThan(Number(waited?.[3]))
  })
})
