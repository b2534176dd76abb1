import { describe, expect, test } from "bun:test"
import { readMachineMemory } from "./machine-memory.ts"

const gibibyte = 1024 ** 3
const unlimited = "9223372036854771712\n"

function readFrom(files: Readonly<Record<string, string>>): number {
  return readMachineMemory(8 * gibibyte, (path) => files[path] ?? "")
}

describe("readMachineMemory", () => {
  test("returns the memory of the machine if no control group has a limit", () => {
    expect(readFrom({})).toBe(8 * gibibyte)
    expect(
      readFrom({
        "/proc/self/cgroup": "0::/user.slice\n",
        "/sys/fs/cgroup/user.slice/memory.max": "max\n",
      }),
    ).toBe(8 * gibibyte)
    const unlimitedV1 = { "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": unlimited }
    expect(readFrom({ "/proc/self/cgroup": "5:cpu:/\n4:memory:/a\n0::/\n", ...unlimitedV1 })).toBe(
      8 * gibibyte,
    )
  })

  test("returns the limit of the own group, with cgroups v1 and v2", () => {
    const own = {
      "/proc/self/cgroup": "0::/hamlet.service\n",
      "/sys/fs/cgroup/hamlet.service/memory.max": `${gibibyte}\n`,
    }
    expect(readFrom(own)).toBe(gibibyte)
    const ownV1 = {
      "/proc/self/cgroup": "4:memory:/a\n",
      "/sys/fs/cgroup/memory/a/memory.limit_in_bytes": `${gibibyte}\n`,
    }
    expect(readFrom(ownV1)).toBe(gibibyte)
  })

  test("returns the smallest limit of all parent groups, and at most the memory of the machine", () => {
    const files = {
      "/proc/self/cgroup": "0::/a/b/c\n",
      "/sys/fs/cgroup/a/memory.max": `${2 * gibibyte}\n`,
      "/sys/fs/cgroup/a/b/memory.max": "max\n",
      "/sys/fs/cgroup/a/b/c/memory.max": `${64 * gibibyte}\n`,
    }
    expect(readFrom(files)).toBe(2 * gibibyte)
  })

  test("reads the limit of a container whose own group is the root", () => {
    const files = { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": `${gibibyte}\n` }
    expect(readFrom(files)).toBe(gibibyte)
  })

  test("returns a value on this machine", () => {
    expect(readMachineMemory()).toBeGreaterThan(0)
  })
})
