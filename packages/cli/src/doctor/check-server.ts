import { ApiError } from "@hamlet/contract/client"
import manifest from "../../package.json" with { type: "json" }
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { type Connection, connectTo } from "../servers/connection.ts"
import { collectBytes } from "../terminal/read-input.ts"
import type { Finding } from "./finding.ts"

/**
 * Checks the current server from this machine: that it responds, is a Hamlet server, and accepts
 * the token.
 */
export async function checkServer(choose: () => Promise<Connection>): Promise<readonly Finding[]> {
  const chosen = await chooseServer(choose)
  if (!("server" in chosen)) return [chosen]
  const { server } = chosen
  const { client } = connectTo(server, { timeoutMs: limits.doctorMs, retriesMax: 0 })
  const health = await checkHealth(server.url)
  if (health.some(({ status }) => status === "failure")) return health
  return [...health, await checkReadiness(client), await checkToken(client, server.token)]
}

/** Checking the machine does not require signing in. */
async function chooseServer(choose: () => Promise<Connection>): Promise<Connection | Finding> {
  try {
    return await choose()
  } catch (error) {
    if (!(error instanceof CliError) || error.exit !== "refused") throw error
    return {
      check: "server",
      status: "ok",
      found: 'not checked: sign in with "hamlet login"',
      mend: null,
    }
  }
}

async function checkHealth(url: string): Promise<readonly Finding[]> {
  const check = "server"
  const start = 'start it with "hamlet serve", or sign in to another with "hamlet login URL"'
  const beforeMs = Date.now()
  try {
    const response = await fetch(`${url}/healthz`, {
      signal: AbortSignal.timeout(limits.doctorMs),
      redirect: "manual",
    })
    const { status, version } = JSON.parse(await readHealth(response)) as {
      status?: unknown
      version?: unknown
    }
    if (status !== "ok" || typeof version !== "string") throw new SyntaxError()
    const reached: Finding = {
      check,
      status: "ok",
      found: `${url} responds in ${Date.now() - beforeMs} ms`,
      mend: null,
    }
    return [
      reached,
      checkVersion(version),
      checkClock(response.headers.get("date"), (beforeMs + Date.now()) / 2),
    ]
  } catch (error) {
    const isOther = error instanceof SyntaxError
    const found = isOther
      ? `${url} is not a Hamlet server`
      : `${url} does not respond: ${toReason(error)}`
    return [{ check, status: "failure", found, mend: start }]
  }
}

/** What listens there may be any server. */
async function readHealth({ body }: Response): Promise<string> {
  const bytes = await collectBytes(body, limits.healthBytesMax, "Cannot check the server")
  return Buffer.from(bytes).toString()
}

function toReason(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError")
    return `no response within ${limits.doctorMs / 1000} s`
  return error instanceof Error ? error.message : String(error)
}

function checkVersion(version: string): Finding {
  const own = manifest.version
  if (version === own) return { check: "server version", status: "ok", found: version, mend: null }
  const mend =
    "use the same version of both: commands or routes of the newer one may be missing in the other"
  return {
    check: "server version",
    status: "warning",
    found: `${version}; this program is ${own}`,
    mend,
  }
}

/** The Date header has a resolution of one second, and may be a second old. */
function checkClock(date: string | null, nowMs: number): Finding {
  const check = "server clock"
  const thereMs = Date.parse(date ?? "")
  if (Number.isNaN(thereMs))
    return { check, status: "ok", found: "the server sends no Date header", mend: null }
  const skewMs = thereMs + 500 - nowMs
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const found =
    seconds <= 1 ? "in sync" : `${seconds} s ${skewMs < 0 ? "behind" : "ahead of"} this machine's`
  if (Math.abs(skewMs) <= limits.doctorSkewMsMax) return { check, status: "ok", found, mend: null }
  return {
    check,
    status: "warning",
    found,
    mend: "synchronise both clocks with NTP (systemd-timesyncd, chrony)",
  }
}

async function checkReadiness(client: Connection["client"]): Promise<Finding> {
  const check = "server's database"
  try {
    const { database, schemaVersion } = await client.getReadiness()
    return { check, status: "ok", found: `${database}, schema ${schemaVersion}`, mend: null }
  } catch (error) {
    const mend = 'see the server log, and run "hamlet doctor" on its machine'
    return {
      check,
      status: "failure",
      found: error instanceof Error ? error.message : String(error),
      mend,
    }
  }
}

async function checkToken(
  client: Connection["client"],
  token: string | undefined,
): Promise<Finding> {
  const check = "token"
  const mend = 'sign in again with "hamlet login"'
  if (token === undefined)
    return { check, status: "failure", found: "no token for this server", mend }
  try {
    const me = await client.getMe()
    return { check, status: "ok", found: `belongs to ${me.username}`, mend: null }
  } catch (error) {
    if (error instanceof ApiError && error.code === "missing_scope")
      return { check, status: "ok", found: "valid, but without the scope user:read", mend: null }
    return {
      check,
      status: "failure",
      found: error instanceof Error ? error.message : String(error),
      mend,
    }
  }
}
