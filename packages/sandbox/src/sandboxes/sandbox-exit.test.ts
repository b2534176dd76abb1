import { expect, test } from "bun:test"
import { type ExitFacts, toSandboxExit } from "./sandbox-exit.ts"
import { sandboxLimits } from "./sandbox-limits.ts"

const megabyte = 1024 ** 2
const cases: readonly (readonly [string, Partial<ExitFacts>, string, string])[] = [
  ["an exit code", { code: 3 }, "exited", "it exited with code 3"],
  ["a kill", { code: 137 }, "killed", "it was killed (SIGKILL)"],
  [
    "a kill of the process that we started ourselves",
    { signal: "SIGKILL" },
    "killed",
    "it was killed (SIGKILL)",
  ],
  [
    "a kill by the kernel for memory",
    { code: 137, wasOutOfMemory: true },
    "memory",
    "it used more than the limit of 256 MB of memory",
  ],
  [
    "the same while we stop it",
    { code: 137, wasOutOfMemory: true, stopped: { reason: "killed" } },
    "memory",
    "it used more than",
  ],
  ["a stop", { code: 137, stopped: { reason: "killed" } }, "killed", "it was stopped"],
  [
    "a stop with a reason",
    { code: 137, stopped: { reason: "protocol", message: "it lied" } },
    "protocol",
    "it lied",
  ],
  [
    "a trap with a full heap",
    { code: 133, memoryBytes: 130 * megabyte },
    "memory",
    "heap reached the limit of 128 MB",
  ],
  [
    "a trap with an empty heap",
    { code: 133, memoryBytes: 30 * megabyte },
    "exited",
    "it crashed (SIGTRAP)",
  ],
  [
    "a trap that nobody knows more about",
    { signal: "SIGTRAP" },
    "memory",
    "most likely because its JavaScript heap reached",
  ],
  ["a crash", { code: 139 }, "exited", "it crashed (SIGSEGV)"],
  [
    "a panic for want of a thread",
    { code: 134, wasOutOfProcesses: true },
    "processes",
    "it reached the limit of 64 threads",
  ],
  [
    "an end that has nothing to do with threads",
    { code: 0, wasOutOfProcesses: true },
    "exited",
    "it exited with code 0",
  ],
  [
    "a kill at the limit of CPU time",
    { code: 137, cpuMs: 3_599_000 },
    "cpu",
    "it used more CPU time than the limit",
  ],
  ["a signal for CPU time", { signal: "SIGXCPU" }, "cpu", "it used more CPU time than the limit"],
  ["a signal for the size of a file", { code: 153 }, "files", "limit of 64 MB to a file"],
]

test.each(cases)("toSandboxExit explains %s", (_, facts, reason, message) => {
  const none = {
    code: null,
    signal: null,
    stopped: undefined,
    wasOutOfMemory: false,
    wasOutOfProcesses: false,
    cpuMs: 1,
    memoryBytes: undefined,
  }
  const exit = toSandboxExit({ ...none, ...facts }, sandboxLimits)
  expect(exit).toMatchObject({ reason, message: expect.stringContaining(message) })
})
