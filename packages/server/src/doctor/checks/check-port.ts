import { createServer } from "node:net"
import packageJson from "../../../package.json" with { type: "json" }
import type { Config } from "../../config/config.ts"
import { about, type Findings } from "../finding.ts"
import { doctorLimits } from "../limits.ts"

const check = about("port")

/** Whether the port is free, and otherwise which server uses it. */
export async function checkPort({ host, port }: Config): Promise<Findings> {
  if (port === 0) return check.fine("any that is free")
  const code = await tryToListen(host, port)
  if (code === undefined) return check.fine(`${port} on ${host} is free`)
  if (code === "EADDRINUSE") return await judgeTaken(host, port)
  const found = `Cannot listen on ${host} port ${port}: ${reasons[code] ?? code}`
  return check.failure(found, mends[code] ?? "name others with --host and --port")
}

const reasons: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: "this machine does not have that address",
  EACCES: "it takes more rights than this program has",
}
const mends: Readonly<Record<string, string>> = {
  EACCES:
    "choose a port above 1023 with --port and put a proxy before it, see docs/self-hosting.md",
}

/** Listens briefly, and returns the error code if that fails. */
export function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

async function judgeTaken(host: string, port: number): Promise<Findings> {
  const there = `${port} on ${host}`
  const version = await askVersion(host, port)
  if (version === undefined)
    return check.failure(
      `${there} is taken by another program`,
      `end that program ("ss -ltnp" says which it is), or choose another with --port`,
    )
  if (version !== packageJson.version)
    return check.warning(
      `Hamlet ${version} runs at ${there}, and this is ${packageJson.version}`,
      "restart it with this version",
    )
  return check.fine(`Hamlet ${version} runs at ${there}`)
}

/** The version of a Hamlet server at that address; undefined for anything else. */
async function askVersion(host: string, port: number): Promise<string | undefined> {
  const name =
    host === "0.0.0.0"
      ? "127.0.0.1"
      : host === "::"
        ? "[::1]"
        : host.includes(":")
          ? `[${host}]`
          : host
  try {
    const signal = AbortSignal.timeout(doctorLimits.answerMsMax)
    const answer = await fetch(`http://${name}:${port}/healthz`, { signal, redirect: "manual" })
    const { status, version } = (await answer.json()) as { status?: unknown; version?: unknown }
    return status === "ok" && typeof version === "string" ? version : undefined
  } catch {
    return undefined
  }
}
