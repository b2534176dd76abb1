import { mkdirSync, writeFileSync } from "node:fs"
import { createConnection, createServer } from "node:net"
import { join } from "node:path"
import { onEnd } from "../../harness/scratch.ts"
import type { OptionalService } from "../package-case.ts"

const limits = { startMs: 30_000, pollMs: 50 }

/**
 * A shell that runs a program and ends it when its standard input closes, which happens however this
 * process ends.
 */
const keeper = `exec 3<&0; "$@" </dev/null 3<&- & server=$!; ( read -r _ <&3; kill "$server" ) & wait "$server"`

/** A program of the machine that is a service. */
interface Daemon {
  readonly name: OptionalService
  readonly program: string
  /** Its arguments, after preparing an empty folder of its own. */
  prepare(folder: string, port: number): readonly string[]
  toAddress(port: number): string
}

const daemons: readonly Daemon[] = [
  {
    name: "redis",
    program: "redis-server",
    prepare: (folder, port) => [
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--dir",
      folder,
      "--save",
      "",
      "--appendonly",
      "no",
    ],
    toAddress: (port) => `redis://localhost:${port}`,
  },
  {
    name: "mariadb",
    program: "mariadbd",
    prepare: prepareMariadb,
    toAddress: (port) => `mysql://root@localhost:${port}/mysql`,
  },
  {
    name: "mosquitto",
    program: "mosquitto",
    prepare(folder, port) {
      const path = join(folder, "mosquitto.conf")
      writeFileSync(path, `listener ${port} 127.0.0.1\nallow_anonymous true\n`)
      return ["-c", path]
    },
    toAddress: (port) => `mqtt://localhost:${port}`,
  },
  {
    name: "nats",
    program: "nats-server",
    prepare: (_, port) => ["-a", "127.0.0.1", "-p", String(port)],
    toAddress: (port) => `nats://localhost:${port}`,
  },
]

function prepareMariadb(folder: string, port: number): readonly string[] {
  const user = process.getuid?.() === 0 ? ["--user=root"] : []
  const data = `--datadir=${join(folder, "data")}`
  const install = ["mariadb-install-db", "--no-defaults", data, ...user, "--skip-test-db"]
  const { exitCode, stdout, stderr } = Bun.spawnSync(install)
  if (exitCode !== 0) throw new Error(`Cannot create a database of MariaDB: ${stdout}${stderr}`)
  const socket = `--socket=${join(folder, "socket")}`
  const network = ["--bind-address=127.0.0.1", `--port=${port}`, socket]
  return ["--no-defaults", data, ...user, ...network, "--skip-grant-tables"]
}

/** Starts the programs that this machine has. Those that it does not have are absent. */
export async function startDaemons(
  folder: string,
): Promise<Partial<Record<OptionalService, string>>> {
  const found = daemons.filter(({ program }) => Bun.which(program) !== null)
  const started = found.map(async (daemon) => {
    const own = join(folder, daemon.name)
    mkdirSync(own)
    return [daemon.name, await startDaemon(daemon, own)]
  })
  return Object.fromEntries(await Promise.all(started))
}

async function startDaemon(
  { program, prepare, toAddress }: Daemon,
  folder: string,
): Promise<string> {
  const port = await findFreePort()
  const log = Bun.file(join(folder, "log"))
  const command = ["sh", "-c", keeper, "keeper", program, ...prepare(folder, port)]
  const child = Bun.spawn(command, { stdin: "pipe", stdout: log, stderr: log })
  onEnd(() => void child.stdin.end())
  const end = performance.now() + limits.startMs
  while (!(await canConnect(port))) {
    if (child.exitCode !== null || performance.now() > end)
      throw new Error(`Cannot start ${program}: ${await log.text()}`)
    await Bun.sleep(limits.pollMs)
  }
  return toAddress(port)
}

function canConnect(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection(port, "127.0.0.1")
  socket.once("connect", () => resolve(true)).once("error", () => resolve(false))
  return promise.finally(() => socket.destroy())
}

function findFreePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0))
  })
  return promise
}
