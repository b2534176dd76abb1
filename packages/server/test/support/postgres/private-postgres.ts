import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * A server of our own, for tests that restart it. It listens on a Unix socket only, so that no port
 * can be taken.
 */
export class PrivatePostgres {
  readonly #binaries: string
  readonly folder: string

  private constructor(binaries: string, folder: string) {
    this.#binaries = binaries
    this.folder = folder
  }

  /** `binaries` is the folder of initdb and pg_ctl. */
  static async create(binaries: string): Promise<PrivatePostgres> {
    const folder = await mkdtemp(join(tmpdir(), "hamlet-pg-"))
    if (isRoot) await run(["chown", "postgres", folder])
    const server = new PrivatePostgres(binaries, folder)
    await server.#run(
      "initdb",
      "--no-sync",
      "--auth=trust",
      "--username=postgres",
      "--encoding=UTF8",
      "--locale=C",
    )
    await server.start()
    return server
  }

  get socket(): string {
    return join(this.folder, ".s.PGSQL.5432")
  }

  get url(): string {
    return `postgres://postgres@localhost/postgres?path=${encodeURIComponent(this.socket)}`
  }

  async start(): Promise<void> {
    const options = `-k ${this.folder} -c listen_addresses='' -c fsync=off`
    await this.#run("pg_ctl", "start", "-w", "-o", options, "-l", join(this.folder, "log"))
  }

  /** `fast` takes leave of its clients, `immediate` is a crash. */
  async stop(mode: "fast" | "immediate"): Promise<void> {
    await this.#run("pg_ctl", "stop", "-w", "-m", mode)
  }

  async remove(): Promise<void> {
    await this.stop("immediate")
    await rm(this.folder, { recursive: true })
  }

  async #run(command: string, ...args: string[]): Promise<void> {
    // PostgreSQL refuses to run as root.
    const prefix = isRoot ? ["runuser", "-u", "postgres", "--"] : []
    await run([...prefix, join(this.#binaries, command), "-D", join(this.folder, "data"), ...args])
  }
}

const isRoot = process.getuid?.() === 0

async function run(command: readonly string[]): Promise<void> {
  // A pipe would stay open as long as the server that pg_ctl leaves behind.
  const child = Bun.spawn([...command], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
    cwd: tmpdir(),
  })
  if ((await child.exited) !== 0)
    throw new Error(`Cannot run ${command.join(" ")}: it exited with ${child.exitCode}`)
}
