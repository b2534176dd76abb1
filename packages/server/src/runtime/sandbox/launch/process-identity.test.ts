import { expect, test } from "bun:test"
import { waitUntil } from "../../../../test/support/wait-until.ts"
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
