import { appendFile, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * A server of our own, for tests that restart it. It listens on a Unix socket only, so that no port
 * can be taken, unless the test has a network of its own.
 */
export class PrivatePostgres {
  readonly #binaries: string
  readonly #host: string
  readonly folder: string

  private constructor(binaries: string, folder: string, host: string) {
    this.#binaries = binaries
    this.folder = folder
    this.#host = host
  }

  /**
   * `binaries` is the folder of initdb and pg_ctl. With a `host` it also listens at that address,
   * and trusts the network of it.
   */
  static async create(binaries: string, host = ""): Promise<PrivatePostgres> {
    const folder = await mkdtemp(join(tmpdir(), "hamlet-pg-"))
    if (isRoot) await run(["chown", "postgres", folder])
    const server = new PrivatePostgres(binaries, folder, host)
    await server.#run(
      "initdb",
      "--no-sync",
      "--auth=trust",
      "--username=postgres",
      "--encoding=UTF8",
      "--locale=C",
    )
    if (host !== "")
      await appendFile(join(folder, "data", "pg_hba.conf"), `host all all ${host}/24 trust\n`)
    await server.start()
    return server
  }

  get socket(): string {
    return join(this.folder, ".s.PGSQL.5432")
  }

  get url(): string {
    if (this.#host !== "") return `postgres://postgres@${this.#host}/postgres`
    return `postgres://postgres@localhost/postgres?path=${encodeURIComponent(this.socket)}`
  }

  async start(): Promise<void> {
    const options = `-k ${this.folder} -c listen_addresses='${this.#host}' -c fsync=off`
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
