import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  evaluate,
  findGuestPid,
  hasBubblewrap,
  notRun,
  openSandboxes,
  readStatus,
} from "../testing/sandbox-testing.ts"
import { createSystemCallFilter, type FilterOptions } from "./system-call-filter.ts"
import { systemCallTables } from "./system-calls.ts"

const notPermitted = 1
const badAddress = 14
const notImplemented = 38
const familyNotSupported = 97
const streamSocket = 1
const anyProtocol = 0
const perl = Bun.which("perl")
const canCall = hasBubblewrap && perl !== null && createSystemCallFilter() !== undefined
if (!canCall)
  notRun(
    "the filter of system calls",
    "needs bubblewrap, perl and a machine with a table of system calls",
  )

test("createSystemCallFilter supports x64 and arm64, and returns undefined for others", () => {
  expect(createSystemCallFilter("s390x")).toBeUndefined()
  if (process.platform !== "linux") return
  for (const architecture of ["x64", "arm64"] as const)
    expect(createSystemCallFilter(architecture)?.length).toBeGreaterThan(400)
})

describe.if(canCall)("createSystemCallFilter", () => {
  const table = systemCallTables[process.arch]
  const names = Object.keys(table?.refused ?? {})
  const numbers = Object.values(table?.refused ?? {}).map((number) => [number])

  test("refuses every system call of the list, to root too", () => {
    const withFilter = callEach(numbers, true)
    expect(Object.fromEntries(names.map((name, index) => [name, withFilter[index]]))).toEqual(
      Object.fromEntries(names.map((name) => [name, notPermitted])),
    )
    // Without the filter they would fail with other errors, or succeed.
    expect(
      callEach(numbers, false).filter((error) => error !== notPermitted).length,
    ).toBeGreaterThan(10)
  })

  test("allows clone without namespaces, and Unix sockets", () => {
    const { clone = 0, clone3 = 0, socket = 0, socketpair = 0 } = table ?? {}
    expect(callEach([[clone3]], true)).toEqual([notImplemented])
    for (const flags of [
      0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
    ])
      expect([flags, ...callEach([[clone, flags]], true)]).toEqual([flags, notPermitted])
    const others = [2, 10, 16, 17, 30, 38, 40]
    const toCalls = (number: number) =>
      [1, ...others].map((family) => [number, family, streamSocket, anyProtocol])
    expect(callEach(toCalls(socket), true)).toEqual([0, ...others.map(() => familyNotSupported)])
    // The pair has no address to be written to: EFAULT means that it passed the filter.
    expect(callEach(toCalls(socketpair), true)).toEqual([
      badAddress,
      ...others.map(() => familyNotSupported),
    ])
  })

  test("refuses new processes without canFork", () => {
    const { clone = 0, forks = {} } = table ?? {}
    const signal = 17
    const calls = [[clone, signal], ...Object.values(forks).map((number) => [number])]
    expect(callEach(calls, true, { canFork: false })).toEqual(calls.map(() => notPermitted))
  })

  test("is in force in a sandbox, and does not disturb Deno", async () => {
    await using open = await openSandboxes({ isolation: "bubblewrap" })
    const sandbox = await open.sandboxes.launch()
    expect(readStatus(findGuestPid(sandbox), "Seccomp")).toBe("2")
    const code = `
      const worker = new Worker("data:application/javascript,postMessage(await new Response('ok').text())", { type: "module" })
      const text = await new Promise((resolve) => { worker.onmessage = (event) => resolve(event.data) })
      worker.terminate()
      const { instance } = await WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))
      const key = await crypto.subtle.digest("SHA-256", new Uint8Array(3))
      await Deno.writeTextFile(scratch + "/x", text)
      return [await Deno.readTextFile(scratch + "/x"), typeof instance, key.byteLength]`
    expect(await evaluate(sandbox, code)).toEqual(["ok", "object", 32])
  })
})

/**
 * Makes system calls, each a number and its arguments; gives the error number of each, 0 for
 * success. All six arguments are passed: those that are left out would be what happens to be in the
 * registers.
 */
function callEach(
  calls: readonly (readonly number[])[],
  isFiltered: boolean,
  options: FilterOptions = {},
): number[] {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-filter-test-"))
  try {
    const filter = join(folder, "filter")
    writeFileSync(filter, createSystemCallFilter(process.arch, options) ?? "")
    const lines = calls.map((call) => {
      const whole = Array.from({ length: 7 }, (_, index) => call[index] ?? 0)
      return `$! = 0; $result = syscall(${whole.join(", ")}); print $result < 0 ? $! + 0 : 0, "\\n";`
    })
    const bwrap = [
      "bwrap",
      "--ro-bind",
      "/",
      "/",
      "--dev",
      "/dev",
      "--unshare-all",
      "--cap-drop",
      "ALL",
      ...(isFiltered ? ["--seccomp", "4"] : []),
    ]
    const result = Bun.spawnSync([
      "sh",
      "-c",
      'exec 4<"$1"; shift; exec "$@"',
      "sh",
      filter,
      ...bwrap,
      perl ?? "",
      "-e",
      lines.join("\n"),
    ])
    if (!result.success) throw new Error(result.stderr.toString())
    return result.stdout.toString().split("\n").filter(Boolean).map(Number)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
