import { expect } from "bun:test"
import { existsSync, readdirSync, readlinkSync, statSync } from "node:fs"
import { join } from "node:path"
import { notRun } from "@hamlet/kit/testing"
import type { AttackServer, SavedVal } from "./support/attack-server.ts"
import { describeAttacks, probe } from "./support/describe-attacks.ts"
import { readText } from "./support/processes.ts"
import type { SandboxInUse } from "./support/sandboxes.ts"

/**
 * What would be left to a val that got past all of Deno's permissions: the sandbox from outside,
 * since nothing inside can look. As the kernel tells it in /proc, and as the user of the sandbox
 * finds it on the host.
 */
interface Wall {
  readonly title: string
  check(sandbox: Found, server: AttackServer): void | Promise<void>
}

interface Found extends SandboxInUse {
  readonly uid: number
  /** A file of /proc about the process inside. */
  read(name: string): string
  link(name: string): string
}

const secondsPerRun = 10
const memoryMb = 160
const scratchMb = 8

const walls: readonly Wall[] = [
  {
    title: "has no capability, not even in reserve",
    check: ({ read }) => expect(capabilities(read("status"))).toEqual(Array(5).fill(0n)),
  },
  {
    title: "cannot get rights from a program that has them",
    check: ({ read }) => expect(read("status")).toMatch(/^NoNewPrivs:\s1$/m),
  },
  {
    title: "has its system calls filtered",
    check: ({ read }) => expect(read("status")).toMatch(/^Seccomp:\s2$/m),
  },
  {
    title: "is in namespaces of its own",
    check({ link }, { hamlet }) {
      const shared = ["mnt", "pid", "net", "ipc", "uts", "user"].filter(
        (name) => link(`ns/${name}`) === readlinkSync(`/proc/${hamlet.pid}/ns/${name}`),
      )
      expect(shared).toEqual([])
    },
  },
  {
    title: "shares no namespace with a neighbour",
    async check({ link }, server) {
      const neighbour = await server.sandboxOf(server.neighbour)
      const shared = ["mnt", "pid", "net", "ipc", "uts", "user"].filter(
        (name) => link(`ns/${name}`) === readlinkSync(`/proc/${neighbour.guest.pid}/ns/${name}`),
      )
      expect(shared).toEqual([])
    },
  },
  {
    title: "is process 1 of a PID namespace of its own",
    check: ({ read }) => expect(read("status")).toMatch(/^NSpid:\s\d+\s1$/m),
  },
  {
    title: "has no network but a loopback that leads nowhere",
    check({ read }) {
      const devices = read("net/dev")
        .split("\n")
        .slice(2)
        .map((line) => line.trim().split(":")[0])
        .filter(Boolean)
      expect(devices).toEqual(["lo"])
      expect(read("net/route").trim().split("\n")).toHaveLength(1)
      expect(read("net/tcp").trim().split("\n")).toHaveLength(1)
    },
  },
  {
    title: "sees no Unix sockets but its own",
    check({ read, folder }) {
      const named = read("net/unix")
        .split("\n")
        .flatMap((line) => /\s(\/\S+)$/.exec(line)?.[1] ?? [])
      expect(
        named.filter((path) => path !== "/run/val/in.sock" && !path.startsWith(folder)),
      ).toEqual([])
      expect(read("net/unix")).not.toContain(" @")
    },
  },
  {
    title: "can write to three folders and nowhere else",
    check({ read }) {
      const mounts = read("mountinfo")
        .trim()
        .split("\n")
        .map((line) => line.split(" "))
      const writable = mounts
        .filter(([, , , , , options = ""]) => options.startsWith("rw"))
        .map(([, , , , path = ""]) => path)
      expect(writable.filter((path) => !path.startsWith("/dev/")).sort()).toEqual([
        "/emits",
        "/run/val",
        "/tmp",
      ])
      expect(writable.filter((path) => path.startsWith("/dev/"))).toEqual([
        "/dev/null",
        "/dev/zero",
        "/dev/random",
        "/dev/urandom",
      ])
      expect(mounts.filter(([, , , , , options = ""]) => !options.includes("nosuid"))).toEqual([])
      expect(
        mounts.filter(
          ([, , , , path = "", options = ""]) =>
            !options.includes("nodev") && !path.startsWith("/dev/"),
        ),
      ).toEqual([])
      expect(mounts.find(([, , , , path]) => path === "/tmp")?.join(" ")).toContain(
        `size=${scratchMb * 1024}k`,
      )
      expect(mounts.find(([, , , , path]) => path === "/emits")?.join(" ")).toContain("size=4096k")
    },
  },
  {
    title: "sees nothing of the host's files",
    check({ guest }, { dataDir }) {
      const root = `/proc/${guest.pid}/root`
      expect(
        readdirSync(root).filter(
          (name) =>
            !/^(deno|deno-dir|dev|emits|etc|guest(-script)?\.js|lib\d*|proc|run|tmp|usr|worker\.js)$/.test(
              name,
            ),
        ),
      ).toEqual([])
      // The file `passwd` is our own: see "bubblewrap-command.ts".
      expect(readdirSync(join(root, "etc"))).toEqual(["passwd"])
      const hidden = [
        "home",
        "root",
        "var",
        "sys",
        "proc/1",
        "proc/self/environ",
        "proc/sys",
        "usr/bin",
        "bin",
        dataDir,
        process.cwd(),
      ]
      expect(hidden.filter((path) => existsSync(join(root, path)))).toEqual([])
      expect(readdirSync(join(root, "tmp"))).toEqual([])
    },
  },
  {
    title: "has nothing of the host's environment",
    check({ read }, { confidentialTexts }) {
      const names = read("environ")
        .split("\0")
        .filter(Boolean)
        .map((pair) => pair.slice(0, pair.indexOf("=")))
      const ours =
        /^(DENO_(DIR|EMIT_CACHE_MODE|NO_UPDATE_CHECK)|HOME|HTTPS?_PROXY|MALLOC_(ARENA_MAX|TOP_PAD_)|NO_COLOR|PWD)$/
      expect(names.filter((name) => !ours.test(name))).toEqual([])
      for (const text of confidentialTexts)
        expect(read("environ") + read("cmdline")).not.toContain(text)
    },
  },
  {
    title: "has inherited no open file of the server",
    check({ guest, link }) {
      const open = readdirSync(`/proc/${guest.pid}/fd`).map((name) => link(`fd/${name}`))
      // The guest has created `unsent` itself, in its own folder. Deno reads its code cache, which
      // is the same in all sandboxes and read-only.
      expect(
        open.filter(
          (target) =>
            target !== "" &&
            !/^(\/dev\/(null|urandom|random)|anon_inode:.*|socket:.*|pipe:.*|\/run\/val\/unsent|\/deno-dir\/v8_code_cache_v2(-wal|-shm)?)$/.test(
              target,
            ),
        ),
      ).toEqual([])
      // The server listens at a port, keeps a database and talks to other sandboxes: none of these
      // sockets is here.
      const inodes = new Set(open.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []))
      const ofHost = `${readText("/proc/net/tcp")}${readText("/proc/net/tcp6")}`
        .split("\n")
        .flatMap((line) => line.trim().split(/\s+/)[9] ?? [])
      expect(ofHost.filter((inode) => inodes.has(inode))).toEqual([])
    },
  },
  {
    title: "has limits on files, processes and dumps",
    check({ read }) {
      const limit = (name: string) =>
        Number(
          new RegExp(`^${name}\\s+(\\d+)`, "m").exec(read("limits"))?.[1] ??
            Number.POSITIVE_INFINITY,
        )
      expect(limit("Max core file size")).toBe(0)
      expect(limit("Max open files")).toBeLessThanOrEqual(4096)
      expect(limit("Max processes")).toBeLessThanOrEqual(100)
      expect(limit("Max file size")).toBeLessThanOrEqual(scratchMb * 1024 ** 2)
      expect(limit("Max cpu time")).toBeLessThanOrEqual(3600)
    },
  },
  {
    title: "has its memory limited by the kernel",
    check({ read }) {
      const path = /^\d+:memory:(.*)$/m.exec(read("cgroup"))?.[1]
      const unified = /^0::(.*)$/m.exec(read("cgroup"))?.[1] ?? ""
      const file =
        path === undefined
          ? join("/sys/fs/cgroup", unified, "memory.max")
          : join("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes")
      expect(Number(readText(file))).toBe(memoryMb * 1024 ** 2)
    },
  },
  {
    title: "is the first to go when the machine runs out of memory",
    check: ({ read }) => expect(Number(read("oom_score_adj"))).toBeGreaterThan(500),
  },
  {
    title: "has a control socket that nobody else can connect to",
    check: ({ folder }) =>
      expect(readdirSync(join(folder, "run")).sort()).toEqual([
        "in.sock",
        "out.sock",
        "tcp.sock",
        "unsent",
      ]),
  },
  {
    title: "has egress sockets of its own",
    check({ folder, uid }) {
      for (const name of ["out.sock", "tcp.sock"]) {
        const { mode, uid: owner } = statSync(join(folder, "run", name))
        expect([mode & 0o777, owner]).toEqual([0o600, uid])
      }
    },
  },
]

/**
 * The walls that are left on the host for the user that a sandbox runs as: what a val could do that
 * had broken out of all namespaces.
 */
const wallsOfUsers: readonly Wall[] = [
  {
    title: "is not the user of the server",
    check: ({ uid }) => expect([0, process.getuid?.()]).not.toContain(uid),
  },
  {
    title: "belongs to no group",
    check: ({ read }) => expect(read("status")).toMatch(/^Groups:\s*$/m),
  },
  {
    title: "is another user than a neighbour",
    async check({ uid }, server) {
      expect(uidOf(await server.sandboxOf(server.neighbour))).not.toBe(uid)
    },
  },
  {
    title: "cannot make a user namespace",
    check: ({ guest }) =>
      expect(enter(guest.pid, "unshare", "--user", "true")).toMatch(
        /^1 .*(No space left|not permitted)/,
      ),
  },
  {
    title: "cannot make a network namespace",
    check: ({ guest }) =>
      expect(enter(guest.pid, "unshare", "--net", "true")).toMatch(/^1 .*not permitted/),
  },
  {
    title: "cannot mount anything",
    check: ({ guest }) =>
      expect(enter(guest.pid, "mount", "-t", "tmpfs", "none", "/mnt")).toMatch(
        /^(1|32) .*(permission denied|must be superuser)/i,
      ),
  },
  {
    title: "cannot look into the data folder",
    check: ({ uid }, { dataDir }) =>
      expect(asUser(uid, "ls", dataDir)).toMatch(/^2 .*Permission denied/),
  },
  {
    title: "cannot read the database",
    check: ({ uid }, { dataDir }) =>
      expect(asUser(uid, "cat", join(dataDir, "hamlet.db"))).toMatch(/^1 .*Permission denied/),
  },
  {
    title: "cannot read the environment of the server",
    check: ({ uid }, { hamlet }) =>
      expect(asUser(uid, "cat", `/proc/${hamlet.pid}/environ`)).toMatch(/^1 .*Permission denied/),
  },
  {
    title: "cannot kill the server",
    check: ({ uid }, { hamlet }) =>
      expect(asUser(uid, "sh", "-c", `kill -9 ${hamlet.pid}`)).toMatch(/^1 .*not permitted/i),
  },
  {
    title: "cannot kill or look into a neighbour",
    async check({ uid }, server) {
      const { folder, guest } = await server.sandboxOf(server.neighbour)
      expect(asUser(uid, "sh", "-c", `kill -9 ${guest.pid}`)).toMatch(/^1 .*not permitted/i)
      expect(asUser(uid, "ls", folder)).toMatch(/^2 .*Permission denied/)
      expect(asUser(uid, "ls", join(folder, "deno"))).toMatch(/^2 .*Permission denied/)
      for (const name of ["out.sock", "tcp.sock"])
        expect(asUser(uid, "ls", join(folder, "run", name))).toMatch(/^2 .*Permission denied/)
      expect(asUser(uid, "cat", `/proc/${guest.pid}/environ`)).toMatch(/^1 .*Permission denied/)
    },
  },
  {
    title: "cannot put anything into the folders that it shares with the host",
    check({ uid, folder }) {
      for (const path of ["run/x", "deno/x", "deno/remote/x", "x", "../x", "../../x"])
        expect(asUser(uid, "touch", join(folder, path))).toMatch(/^1 .*Permission denied/)
      for (const name of ["in.sock", "out.sock", "tcp.sock"])
        expect(asUser(uid, "rm", join(folder, "run", name))).toMatch(
          /^1 .*(Permission denied|not permitted)/,
        )
    },
  },
]

const env = {
  HAMLET_RUN_SECONDS_MAX: String(secondsPerRun),
  HAMLET_VAL_MEMORY_MB: String(memoryMb),
  HAMLET_VAL_SCRATCH_MB: String(scratchMb),
  // The sandboxes must be there as long as they are looked at.
  HAMLET_IDLE_SECONDS: "300",
}

describeAttacks("attacks/isolation: the sandbox", env, (getServer) => {
  let val: Promise<SavedVal> | undefined
  const find = async (server: AttackServer): Promise<Found> => {
    val ??= server.save(server.mallory, { name: "inside", code: `export default () => "here"` })
    expect((await server.request(await val)).text).toBe("here")
    const sandbox = await server.sandboxOf(await val)
    const path = (name: string) => `/proc/${sandbox.guest.pid}/${name}`
    return {
      ...sandbox,
      uid: uidOf(sandbox),
      read: (name) => readText(path(name)),
      link: (name) => readLink(path(name)),
    }
  }
  const isRoot = process.getuid?.() === 0
  if (!isRoot)
    notRun(
      "what the user of a sandbox may do on the host",
      "only root gives each sandbox a user of its own",
    )
  for (const wall of [...walls, ...(isRoot ? wallsOfUsers : [])])
    probe(getServer, wall.title, async (server) => {
      await wall.check(await find(server), server)
    })
})

/** Inheritable, permitted, effective, bounding, ambient. */
function capabilities(status: string): readonly bigint[] {
  return [...status.matchAll(/^Cap\w+:\s([0-9a-f]+)$/gm)].map(([, bits]) => BigInt(`0x${bits}`))
}

function uidOf({ guest }: SandboxInUse): number {
  return Number(/^Uid:\s(\d+)/m.exec(readText(`/proc/${guest.pid}/status`))?.[1])
}

function readLink(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // Was closed since it was listed.
    return ""
  }
}

/**
 * Runs a program of the host in the user namespace of a process, with rather more rights than that
 * process has.
 */
function enter(pid: number, ...command: readonly string[]): string {
  return spawn(["nsenter", "--target", String(pid), "--user", "--preserve-credentials", ...command])
}

function asUser(uid: number, ...command: readonly string[]): string {
  return spawn(["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", ...command])
}

function spawn(command: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command])
  return `${exitCode} ${stdout}${stderr}`
}
