import { ApiError } from "@hamlet/contract/client"
import manifest from "../../package.json" with { type: "json" }
import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { type Connection, connectTo } from "../servers/connection.ts"
import type { Finding } from "./finding.ts"

/**
 * Looks at the server that commands go to, from here: whether it answers, is what we expect, and
 * knows us.
 */
export async function checkServer(choose: () => Promise<Connection>): Promise<readonly Finding[]> {
  const chosen = await chooseServer(choose)
  if (!("server" in chosen)) return [chosen]
  const { server } = chosen
  const { client } = connectTo(server, { timeoutMs: limits.doctorMs, retriesMax: 0 })
  const sighted = await sight(server.url)
  if (sighted.some(({ status }) => status === "failure")) return sighted
  return [...sighted, await checkReadiness(client), await checkToken(client, server.token)]
}

/** Nobody has to be signed in to look at a machine. */
async function chooseServer(choose: () => Promise<Connection>): Promise<Connection | Finding> {
  try {
    return await choose()
  } catch (error) {
    if (!(error instanceof CliError) || error.exit !== "refused") throw error
    return {
      check: "server",
      status: "ok",
      found: 'not looked at: you are not signed in to any, which "hamlet login" does',
      mend: null,
    }
  }
}

async function sight(url: string): Promise<readonly Finding[]> {
  const check = "server"
  const start = 'start it ("hamlet serve"), or sign in to another ("hamlet login URL")'
  const beforeMs = Date.now()
  try {
    const answer = await fetch(`${url}/healthz`, {
      signal: AbortSignal.timeout(limits.doctorMs),
      redirect: "manual",
    })
    const { status, version } = (await answer.json()) as { status?: unknown; version?: unknown }
    if (status !== "ok" || typeof version !== "string") throw new SyntaxError()
    const reached: Finding = {
      check,
      status: "ok",
      found: `${url} answers in ${Date.now() - beforeMs} ms`,
      mend: null,
    }
    return [
      reached,
      judgeVersion(version),
      judgeClock(answer.headers.get("date"), (beforeMs + Date.now()) / 2),
    ]
  } catch (error) {
    const isOther = error instanceof SyntaxError
    const found = isOther
      ? `${url} is answered by something that is no Hamlet server`
      : `${url} does not answer: ${toReason(error)}`
    return [{ check, status: "failure", found, mend: start }]
  }
}

function toReason(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError")
    return `nothing after ${limits.doctorMs / 1000} s`
  return error instanceof Error ? error.message : String(error)
}

function judgeVersion(version: string): Finding {
  const own = manifest.version
  if (version === own) return { check: "server version", status: "ok", found: version, mend: null }
  const mend =
    "use the same version of both; commands and routes of the newer one may be missing in the other"
  return {
    check: "server version",
    status: "warning",
    found: `${version}, and this program is ${own}`,
    mend,
  }
}

/** The header is of whole seconds. */
function judgeClock(date: string | null, nowMs: number): Finding {
  const check = "server clock"
  const thereMs = Date.parse(date ?? "")
  if (Number.isNaN(thereMs))
    return { check, status: "ok", found: "the server does not say what time it is", mend: null }
  const skewMs = thereMs + 500 - nowMs
  const seconds = Math.round(Math.abs(skewMs) / 1000)
  const found =
    seconds === 0
      ? "the same as here"
      : `${seconds} s ${skewMs < 0 ? "behind" : "ahead of"} this machine's`
  if (Math.abs(skewMs) <= limits.doctorSkewMsMax) return { check, status: "ok", found, mend: null }
  return { check, status: "warning", found, mend: "set both by NTP (systemd-timesyncd, chrony)" }
}

async function checkReadiness(client: Connection["client"]): Promise<Finding> {
  const check = "server's database"
  try {
    const { database, schemaVersion } = await client.getReadiness()
    return { check, status: "ok", found: `${database}, schema ${schemaVersion}`, mend: null }
  } catch (error) {
    const mend = 'the log of the server says more; "hamlet doctor" on its machine says what to mend'
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
  const mend = '"hamlet login" takes another token'
  if (token === undefined)
    return { check, status: "failure", found: "there is none for this server", mend }
  try {
    const me = await client.getMe()
    return { check, status: "ok", found: `it is of ${me.username}`, mend: null }
  } catch (error) {
    if (error instanceof ApiError && error.code === "missing_scope")
      return { check, status: "ok", found: "it is good, and may not read whose it is", mend: null }
    return {
      check,
      status: "failure",
      found: error instanceof Error ? error.message : String(error),
      mend,
    }
  }
}
