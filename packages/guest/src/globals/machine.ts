import { bare } from "../primordials.ts"
import { patchBuiltIns } from "./built-ins.ts"

/**
 * What a val learns about the machine that it runs on: the same everywhere. node:os and
 * node:process read most of it through Deno. The rest of node:os reads files that bubblewrap
 * provides, with the same content; its default export is patched for servers without bubblewrap.
 */
const machine = {
  hostname: "val",
  osRelease: "6.1.0",
  userId: 1000,
  cores: 2,
  memoryBytes: 256 * 1024 ** 2,
} as const

const loopback: Deno.NetworkInterfaceInfo = {
  family: "IPv4",
  name: "lo",
  address: "127.0.0.1",
  netmask: "255.0.0.0",
  scopeid: null,
  cidr: "127.0.0.1/8",
  mac: "00:00:00:00:00:00",
}

/** Replaces what would otherwise describe the host, or be refused. */
export function hideMachine(): void {
  const nowMs = performance.now.bind(performance)
  const floor = Math.floor
  const memory = {
    total: machine.memoryBytes,
    free: machine.memoryBytes / 2,
    available: machine.memoryBytes / 2,
    buffers: 0,
    cached: 0,
    swapTotal: 0,
    swapFree: 0,
  }
  Object.assign(Deno, {
    hostname: () => machine.hostname,
    osRelease: () => machine.osRelease,
    osUptime: () => floor(nowMs() / 1000),
    loadavg: () => [0, 0, 0],
    networkInterfaces: () => [{ ...loopback }],
    systemMemoryInfo: () => ({ ...memory }),
    uid: () => machine.userId,
    gid: () => machine.userId,
    memoryUsage: describeMemory(Deno.memoryUsage),
  })
  patchBuiltIns(["os"], (find) => Object.assign(find("os"), describeForNode()))
  Object.defineProperty(
    // Another class in a Worker.
    Object.getPrototypeOf(navigator),
    "hardwareConcurrency",
    bare({ get: () => machine.cores, enumerable: true, configurable: true }),
  )
}

function describeForNode(): object {
  const homedir = () => Deno.env.get("HOME") ?? Deno.cwd()
  const times = { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 }
  return {
    cpus: () =>
      Array.from({ length: machine.cores }, () => ({
        model: "val",
        speed: 0,
        times: { ...times },
      })),
    homedir,
    uptime: () => Deno.osUptime(),
    userInfo: () => ({
      uid: machine.userId,
      gid: machine.userId,
      username: machine.hostname,
      homedir: homedir(),
      shell: "/bin/sh",
    }),
  }
}

/** The size of the process is not known in a sandbox, which has no /proc. */
function describeMemory(read: typeof Deno.memoryUsage): typeof Deno.memoryUsage {
  return () => {
    const usage = read()
    return usage.rss > 0 ? usage : { ...usage, rss: usage.heapTotal + usage.external }
  }
}
