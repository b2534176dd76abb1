import { CliError } from "../cli-error.ts"
import { limits } from "../limits.ts"
import { collectBytes } from "../terminal/read-input.ts"

/** A sign-in that its user completes in a browser (RFC 8628). */
export interface DeviceSignIn {
  /** What the user enters. */
  readonly userCode: string
  /** The address of the page where the user enters it. */
  readonly page: string
  /** The token. Rejects when the user has refused, the code has expired or the signal aborts. */
  wait(signal: AbortSignal): Promise<string>
}

/** Every server knows the command line under this id. */
const clientId = "hamlet"

const grantType = "urn:ietf:params:oauth:grant-type:device_code"

/** Begins a sign-in. Undefined where the server offers none, or cannot be reached. */
export async function startDeviceSignIn(url: string): Promise<DeviceSignIn | undefined> {
  const fields = { client_id: clientId }
  const started = await post(`${url}/oauth/device_authorization`, fields, undefined)
  const { device_code: deviceCode, user_code: userCode, verification_uri: page } = started ?? {}
  if (typeof deviceCode !== "string" || typeof userCode !== "string" || typeof page !== "string")
    return undefined
  // They are printed, and the server may be any.
  if (!/^[A-Z-]{1,40}$/.test(userCode) || !/^https?:\/\/[\x21-\x7e]{1,500}$/.test(page))
    return undefined
  const expiresMs = toMs(started?.expires_in, limits.deviceMsMax)
  const intervalMs = toMs(started?.interval, limits.deviceIntervalMsMax)
  return {
    userCode,
    page,
    wait: (signal) => waitForToken(url, deviceCode, { expiresMs, intervalMs }, signal),
  }
}

/** Asks until the user has decided. A server that is away may come back before the code expires. */
async function waitForToken(
  url: string,
  deviceCode: string,
  times: { readonly expiresMs: number; readonly intervalMs: number },
  signal: AbortSignal,
): Promise<string> {
  const fields = { grant_type: grantType, client_id: clientId, device_code: deviceCode }
  const untilMs = performance.now() + times.expiresMs
  let { intervalMs } = times
  while (performance.now() < untilMs) {
    await sleep(intervalMs, signal)
    const reply = await post(`${url}/oauth/token`, fields, signal)
    if (typeof reply?.access_token === "string") return reply.access_token
    if (reply?.error === "access_denied")
      throw new CliError("refused", "Cannot sign in: it was refused in the browser")
    if (reply?.error === "slow_down")
      intervalMs = Math.min(intervalMs * 2, limits.deviceIntervalMsMax)
    else if (endings.has(reply?.error)) break
  }
  throw new CliError("refused", "Cannot sign in: the code has expired", {
    advice: "sign in again",
  })
}

/** The errors after which no token comes. */
const endings = new Set<unknown>(["expired_token", "invalid_grant", "invalid_client"])

/** The fields of a response; undefined if there is none, or it is not JSON of a reasonable size. */
async function post(
  address: string,
  fields: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const timeout = AbortSignal.timeout(limits.deviceRequestMs)
  try {
    const response = await fetch(address, {
      method: "POST",
      body: new URLSearchParams(fields),
      redirect: "error",
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    const bytes = await collectBytes(response.body, limits.deviceBytesMax, "Cannot sign in")
    const value: unknown = JSON.parse(Buffer.from(bytes).toString())
    return typeof value === "object" && value !== null ? { ...value } : undefined
  } catch {
    signal?.throwIfAborted()
    return undefined
  }
}

function toMs(seconds: unknown, msMax: number): number {
  const ms = typeof seconds === "number" && seconds > 0 ? seconds * 1000 : limits.deviceIntervalMs
  return Math.min(Math.max(ms, limits.deviceIntervalMsMin), msMax)
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end)
      resolve()
    }, ms)
    signal.addEventListener("abort", end, { once: true })
    if (signal.aborted) end()
  })
}
