import { describe, expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sandboxLimits } from "../sandbox-limits.ts"
import { Cgroup } from "./cgroup.ts"
import { findOwnGroups } from "./cgroup-mounts.ts"

describe("findOwnGroups", () => {
  const cases = {
    "version 1": {
      "/proc/self/cgroup": "4:memory:/a\n2:cpu,cpuacct:/b/c\n1:name=systemd:/\n0::/",
      "/proc/self/mountinfo": [
        "25 20 0:22 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
        "26 20 0:23 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
        "27 20 0:24 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd",
        "28 20 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
      ].join("\n"),
      "/sys/fs/cgroup/unified/cgroup.controllers": "hugetlb\n",
      expected: [
        { version: 1, folder: "/sys/fs/cgroup/memory/a", controllers: ["memory"] },
        { version: 1, folder: "/sys/fs/cgroup/cpu,cpuacct/b/c", controllers: ["cpu", "cpuacct"] },
      ],
    },
    "version 2": {
      "/proc/self/cgroup": "0::/user.slice/hamlet.service\n",
      "/proc/self/mountinfo":
        "28 20 0:25 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate",
      "/sys/fs/cgroup/user.slice/hamlet.service/cgroup.controllers": "cpuset cpu io memory pids\n",
      expected: [
        {
          version: 2,
          folder: "/sys/fs/cgroup/user.slice/hamlet.service",
          controllers: ["memory", "pids", "cpu"],
        },
      ],
    },
    "a part of version 1 in a container": {
      "/proc/self/cgroup": "4:pids:/docker/abc/sub\n3:memory:/elsewhere",
      "/proc/self/mountinfo":
        "25 20 0:22 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n26 20 0:23 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
      expected: [{ version: 1, folder: "/sys/fs/cgroup/pids/sub", controllers: ["pids"] }],
    },
    "a group outside of the namespace": {
      "/proc/self/cgroup": "0::/../other\n",
      "/proc/self/mountinfo": "28 20 0:25 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw",
      expected: [],
    },
    "a system without any": { expected: [] },
  }
  test.each(Object.entries(cases))("finds %s", (_, { expected, ...files }) => {
    expect(
      findOwnGroups((path) => (files as Record<string, string>)[path] ?? "") as unknown,
    ).toEqual(expected)
  })
})

/**
 * The machine that runs this has only one of the versions; what the files of the other say can
 * still be read.
 */
test("Cgroup sets limits and reads usage with the files of version 2", async () => {
  const parent = mkdtempSync(join(tmpdir(), "hamlet-cgroup-test-"))
  const folder = join(parent, "s1")
  const at = { version: 2, folder } as const
  const group = await Cgroup.create({ memory: at, pids: at, cpu: at }, sandboxLimits)
  const read = (name: string) => readFileSync(join(folder, name), "utf8")
  expect(group.joinPaths).toEqual([join(folder, "cgroup.procs")])
  expect([read("memory.max"), read("memory.oom.group"), read("pids.max")]).toEqual([
    "268435456",
    "1",
    "68",
  ])
  writeFileSync(join(folder, "memory.current"), "5000\n")
  writeFileSync(join(folder, "memory.stat"), "anon 1\ninactive_file 100\nactive_file 200\n")
  writeFileSync(join(folder, "cpu.stat"), "usage_usec 7000\nuser_usec 1\n")
  writeFileSync(join(folder, "memory.events"), "low 0\nhigh 0\nmax 9\noom 1\noom_kill 0\n")
  writeFileSync(join(folder, "pids.events"), "max 3\n")
  expect([
    group.readMemoryBytes(),
    group.readCpuMs(),
    group.wasOutOfMemory(),
    group.wasOutOfProcesses(),
  ]).toEqual([4700, 7, false, true])
  writeFileSync(join(folder, "memory.events"), "oom 1\noom_kill 1\noom_group_kill 0\n")
  expect(group.wasOutOfMemory()).toBe(true)
  expect([group.setWeight("low"), read("cpu.weight")]).toEqual([true, "5"])
  expect([group.setWeight("normal"), read("cpu.weight")]).toEqual([true, "100"])
  // Processes of other namespaces are listed as 0, and `kill 0` would kill the server.
  writeFileSync(join(folder, "cgroup.procs"), "0\n0\n")
  expect([group.listPids(), group.kill()]).toEqual([[], 0])
  rmSync(parent, { recursive: true })
  expect([
    group.readMemoryBytes(),
    group.readCpuMs(),
    group.wasOutOfMemory(),
    await group.remove(),
  ]).toEqual([undefined, undefined, false, true])
})
