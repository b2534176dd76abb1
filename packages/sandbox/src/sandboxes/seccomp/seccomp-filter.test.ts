import { describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { notRun } from "@hamlet/kit/testing"
import {
  evaluate,
  findGuestPid,
  hasBubblewrap,
  openSandboxes,
  readStatus,
} from "../testing/sandbox-testing.ts"
import { createSeccompFilter } from "./seccomp-filter.ts"
import { type FilteredProgram, findSystemCalls, type SystemCallTable } from "./system-calls.ts"

const notPermitted = 1
const badAddress = 14
const notImplemented = 38
const familyNotSupported = 97
const streamSocket = 1
const anyProtocol = 0
const unixFamily = 1
/** IPv4, IPv6, netlink, packets, CAN, the kernel's ciphers and the host of a virtual machine. */
const otherFamilies = [2, 10, 16, 17, 29, 38, 40]
/** What the C library passes to start a thread. */
const threadFlags = 0x3d_0f00
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const namespaceFlags = [
  0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000,
]
/** What a filter returns. */
const allowed = 0x7fff_0000
const killed = 0x8000_0000
const failed = (error: number) => 0x0005_0000 | error
const perl = Bun.which("perl")
const canCall = hasBubblewrap && perl !== null && createSeccompFilter("deno") !== undefined
if (!canCall)
  notRun(
    "the filter of system calls",
    "needs bubblewrap, perl and a machine with a table of system calls",
  )

/** Linux has about 470 calls; the rest are those of kernels to come. */
const everyNumber = Array.from({ length: 1000 }, (_, number) => number)

describe.if(process.platform === "linux")("createSeccompFilter", () => {
  test("returns undefined for architectures without a table", () => {
    expect(createSeccompFilter("deno", "s390x")).toBeUndefined()
  })

  for (const architecture of ["x64", "arm64"] as const)
    for (const program of ["deno", "worker"] as const) {
      const table = getTable(architecture, program)
      const judge = createJudge(createSeccompFilter(program, architecture))
      const call = (number: number, argument = 0) => judge(table.architecture, number, argument)

      test(`allows ${program} on ${architecture} the calls of the table, and no other`, () => {
        const listed = new Set(Object.values(table.allowed))
        const judged = Object.values(table.judged)
        for (const number of everyNumber.filter((each) => !judged.includes(each)))
          expect([number, call(number)]).toEqual([
            number,
            listed.has(number) ? allowed : failed(notImplemented),
          ])
        expect(call(0x3fff_ffff)).toBe(failed(notImplemented))
      })

      test(`judges clone and sockets of ${program} on ${architecture} by their argument`, () => {
        const { clone, socket, socketpair } = table.judged
        const signal = 17
        expect(call(clone, threadFlags)).toBe(allowed)
        expect(call(clone, signal)).toBe(program === "deno" ? allowed : failed(notPermitted))
        for (const flag of namespaceFlags)
          expect(call(clone, threadFlags | flag)).toBe(failed(notPermitted))
        for (const number of [socket, socketpair]) {
          expect(call(number, unixFamily)).toBe(allowed)
          for (const family of otherFamilies)
            expect(call(number, family)).toBe(failed(familyNotSupported))
        }
      })

      test(`ends ${program} on ${architecture} that calls as another architecture`, () => {
        const others = [0x4000_0003, 0xc000_003e, 0x4000_0028, 0xc000_00b7]
        for (const other of others.filter((each) => each !== table.architecture))
          expect(judge(other, 0, 0)).toBe(killed)
        const x32 = 0x4000_0000
        expect(call(x32)).toBe(architecture === "x64" ? killed : failed(notImplemented))
      })
    }
})

describe.if(canCall)("createSeccompFilter, installed,", () => {
  const table = canCall ? getTable(process.arch, "deno") : undefined
  const { clone = 0, socket = 0, socketpair = 0 } = table?.judged ?? {}

  test("refuses every system call that is not in the table, to root too", () => {
    // uretprobe and uprobe never reach a filter: a kernel that has them ends a process that calls
    // them outside of a probe.
    const unfiltered = process.arch === "x64" ? [335, 336] : []
    const judged = [clone, socket, socketpair]
    const known = new Set([...Object.values(table?.allowed ?? {}), ...judged, ...unfiltered])
    const calls = everyNumber.filter((number) => !known.has(number)).map((number) => [number])
    expect(calls.length).toBeGreaterThan(700)
    expect(callEach(calls, "deno")).toEqual(calls.map(() => notImplemented))
  })

  test("allows clone without namespaces, and Unix sockets", () => {
    for (const flag of namespaceFlags)
      expect([flag, ...callEach([[clone, flag]], "deno")]).toEqual([flag, notPermitted])
    const toCalls = (number: number) =>
      [unixFamily, ...otherFamilies].map((family) => [number, family, streamSocket, anyProtocol])
    const refusals = otherFamilies.map(() => familyNotSupported)
    expect(callEach(toCalls(socket), "deno")).toEqual([0, ...refusals])
    // The pair has no address to be written to: EFAULT means that it passed the filter.
    expect(callEach(toCalls(socketpair), "deno")).toEqual([badAddress, ...refusals])
  })

  test("refuses new processes of workers", () => {
    const signal = 17
    expect(callEach([[clone, signal]], "worker")).toEqual([notPermitted])
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

function getTable(architecture: NodeJS.Architecture, program: FilteredProgram): SystemCallTable {
  const table = findSystemCalls(architecture, program)
  if (!table) throw new Error(`there is no table of ${architecture}`)
  return table
}

/** Runs a filter as the kernel does, also that of another architecture. */
function createJudge(filter: Uint8Array | undefined) {
  const view = new DataView((filter ?? new Uint8Array()).slice().buffer)
  return (architecture: number, number: number, argument: number): number => {
    const data = new Map([
      [0, number],
      [4, architecture],
      [16, argument],
    ])
    let loaded = 0
    for (let at = 0; at < view.byteLength; at += 8) {
      const code = view.getUint16(at, true)
      const value = view.getUint32(at + 4, true)
      const jump = (isTrue: boolean) => 8 * view.getUint8(at + (isTrue ? 2 : 3))
      if (code === 0x06) return value
      if (code === 0x20) loaded = data.get(value) ?? Number.NaN
      else if (code === 0x15) at += jump(loaded === value)
      else if (code === 0x35) at += jump(loaded >= value)
      else if (code === 0x45) at += jump((loaded & value) !== 0)
      else throw new Error(`the kernel does not know the instruction ${code}`)
    }
    throw new Error("the filter does not end")
  }
}

/**
 * Makes system calls, each a number and its arguments; gives the error number of each, 0 for
 * success. All six arguments are passed: those that are left out would be what happens to be in the
 * registers.
 */
function callEach(calls: readonly (readonly number[])[], program: FilteredProgram): number[] {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-filter-test-"))
  try {
    const filter = join(folder, "filter")
    writeFileSync(filter, createSeccompFilter(program) ?? "")
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
      "--seccomp",
      "4",
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
