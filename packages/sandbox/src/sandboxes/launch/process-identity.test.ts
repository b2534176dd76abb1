import { expect, test } from "bun:test"
import { join } from "node:path"
import { waitUntil } from "@hamlet/kit/testing"
import {
  identityOf,
  isAlive,
  parseProcessStat,
  pidOf,
  readProcessStat,
} from "./process-identity.ts"

const isLinux = process.platform === "linux"

test("identityOf identifies a live process, and isAlive is false after its end", async () => {
  const child = Bun.spawn(["sleep", "60"])
  const identity = identityOf(child.pid) ?? ""
  expect(pidOf(identity)).toBe(child.pid)
  expect(isAlive(identity)).toBe(true)
  child.kill("SIGKILL")
  await child.exited
  expect(isAlive(identity)).toBe(false)
  expect(identityOf(child.pid)).toBeUndefined()
})

test.if(isLinux)("isAlive is false for another process with the same id", () => {
  const [pid, started, ...machine] = identityOf(process.pid)?.split("-") ?? []
  expect(isAlive([pid, `${started}0`, ...machine].join("-"))).toBe(false)
})

test.if(isLinux)(
  "isAlive is false after a restart of the machine, and true for processes it cannot see",
  () => {
    const [pid, started, pidNamespace, bootId] = identityOf(process.pid)?.split("-") ?? []
    expect(isAlive([pid, started, pidNamespace, "zzzz"].join("-"))).toBe(false)
    expect(isAlive([pid, 1, 1, bootId].join("-"))).toBe(true)
  },
)

test.if(isLinux)("isAlive is true for a process that cannot be looked up", () => {
  const script = `
    import { openSync } from "node:fs"
    import { readResidentBytes } from "${Bun.resolveSync("@hamlet/kit", import.meta.dir)}"
    import { identityOf, isAlive, isCertainlyAlive } from "${join(import.meta.dir, "process-identity.ts")}"
    const identity = identityOf(process.ppid)
    const read = () => [isAlive(identity), isCertainlyAlive(identity), readResidentBytes() > 0]
    const before = read()
    try {
      for (;;) openSync("/dev/null", "r")
    } catch {}
    const atLimit = read()
    process.stdout.write(JSON.stringify([before, atLimit]))`
  const { stdout } = Bun.spawnSync([
    "sh",
    "-c",
    'ulimit -n 64; "$@"; exit',
    "sh",
    process.execPath,
    "-e",
    script,
  ])
  expect(JSON.parse(stdout.toString())).toEqual([
    [true, true, true],
    [true, false, false],
  ])
})

test.if(isLinux)("readProcessStat returns undefined for a zombie", async () => {
  // The shell executes a program that never waits for the child.
  const parent = Bun.spawn(["sh", "-c", "sleep 0.1 & echo $!; exec sleep 60"], { stdout: "pipe" })
  const { value = new Uint8Array() } = await parent.stdout.getReader().read()
  const zombie = Number(new TextDecoder().decode(value))
  await waitUntil(() => !readProcessStat(zombie))
  expect(await Bun.file(`/proc/${zombie}/stat`).text()).toContain(" Z ")
  expect(identityOf(zombie)).toBeUndefined()
  parent.kill("SIGKILL")
  await parent.exited
})

test("parseProcessStat is not misled by the name of a program", () => {
  const rest = Array.from({ length: 40 }, (_, index) => index + 4).join(" ")
  expect(parseProcessStat(`12 (a) S 1 (b) R ${rest.replace(/^4 /, "3 4 ").slice(2)}`)).toEqual({
    isRunnable: true,
    cpuTicks: 14 + 15,
    threads: 20,
    startedTicks: 22,
    memoryPages: 24,
  })
  expect(parseProcessStat(`12 (a b) Z ${rest}`)).toBeUndefined()
})
