import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { loadDependencyConfig, loadEgressConfig } from "./egress.ts"
import { loadLibsqlConfig } from "./libsql.ts"
import { loadEmailConfig, loadMailConfig } from "./mail.ts"
import { loadOidcConfig } from "./oidc.ts"
import { loadOpenAiConfig } from "./openai.ts"
import { options, toFlag } from "./options.ts"
import { allowanceSettings, loadRunConfig, scheduleSettings } from "./runs.ts"
import { accessSettings, logSettings, placeSettings, usernamePattern } from "./server.ts"
import { ConfigError, type ReadSetting, readTable } from "./setting.ts"
import { storageSettings } from "./storage.ts"
import { loadTraceConfig } from "./traces.ts"

export { ConfigError, options, toFlag }

/** All settings. */
export type Config = ReturnType<typeof loadConfig>

interface Addresses {
  readonly host: string
  readonly baseUrl: string
  readonly valsDomain: string
}

/** Whether other machines can reach the server. Weak isolation is refused then. */
export function isForOthers({ isPublic, host }: Pick<Config, "isPublic" | "host">): boolean {
  return isPublic || !isOfThisMachine(host)
}

/** Whether other machines can reach the server, but links lead them to themselves. */
export function hasLocalLinks({ host, ...links }: Addresses): boolean {
  return !isOfThisMachine(host) && toLinkHosts(links).some(isOfThisMachine)
}

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the settings from flags and, where there is no flag, from the environment. A terminal shows
 * what the operator has to read, such as the first token: a line for each request would push it out.
 */
export function loadConfig(
  env: Environment,
  args: readonly string[],
  { isOnTerminal = false }: { readonly isOnTerminal?: boolean } = {},
) {
  const flags = parseFlags(args)
  const read = (name: string) => flags[toFlag(name)] ?? env[name] ?? ""
  const places = loadPlaces(read)
  const { isPublic, host, baseUrl } = places
  const access = readTable(accessSettings, read, isPublic)
  const log = readTable(logSettings, read)
  return {
    ...places,
    ...access,
    user: access.user ?? toUsername(env.USER ?? env.LOGNAME ?? ""),
    ...log,
    logLevel: log.logLevel ?? (isOnTerminal ? "warn" : "info"),
    runs: loadRunConfig(read),
    schedules: readTable(scheduleSettings, read),
    egress: loadEgressConfig(read, isPublic),
    dependencies: loadDependencyConfig(read),
    storage: readTable(storageSettings, read),
    /** Undefined for no libSQL server. */
    libsql: loadLibsqlConfig(read),
    allowances: readTable(allowanceSettings, read, isPublic),
    openAi: loadOpenAiConfig(read, isPublic),
    emails: loadEmailConfig(read, new URL(baseUrl).hostname),
    mail: loadMailConfig(read, host),
    /** Undefined for no collector of traces. */
    traces: loadTraceConfig(read),
    /** Undefined for no OpenID Connect provider. */
    oidc: loadOidcConfig(read, baseUrl),
  }
}

function loadPlaces(read: ReadSetting) {
  const { publicity, ...places } = readTable(placeSettings, read)
  const {
    port,
    host = "127.0.0.1",
    baseUrl = `http://localhost:${port}`,
    valsDomain = `localhost:${port}`,
  } = places
  const addresses = { host, baseUrl, valsDomain }
  return {
    ...places,
    ...addresses,
    dataDir: resolve(places.dataDir ?? "./data"),
    /** The server is for other machines: rate limits and strong isolation are required. */
    isPublic: publicity === "auto" ? !isLocal(addresses) : publicity === "yes",
  }
}

/**
 * Whether only this machine uses the server. The listening address does not tell: a proxy on the
 * same machine connects to loopback, and its clients come from anywhere.
 */
function isLocal({ host, ...links }: Addresses): boolean {
  return [host, ...toLinkHosts(links)].every(isOfThisMachine)
}

function toLinkHosts({ baseUrl, valsDomain }: Omit<Addresses, "host">): readonly string[] {
  return [new URL(baseUrl).hostname, valsDomain.replace(/:\d+$/, "")]
}

/** Whether a host name or address is loopback. */
function isOfThisMachine(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[?::1\]?|([^.]+\.)*localhost)$/i.test(host)
}

/** The name of the first user, from the login name of the operator. */
function toUsername(login: string): string {
  const name = login.replaceAll(/[^a-zA-Z0-9_]/g, "_").slice(0, 30)
  return usernamePattern.test(name) ? name : "me"
}

function parseFlags(args: readonly string[]): Readonly<Record<string, string | undefined>> {
  const known = Object.fromEntries(
    options.map(({ env }) => [toFlag(env), { type: "string" as const }]),
  )
  try {
    return parseArgs({ args: [...args], options: known, strict: true }).values as Record<
      string,
      string
    >
  } catch (error) {
    // The message of parseArgs continues with advice for programmers. Only its first sentence is
    // shown.
    const [problem] = String(error instanceof Error ? error.message : error).split(/\.\s/)
    throw new ConfigError(
      `Cannot understand the command line: ${problem}; "npm start -- --help" lists the flags`,
    )
  }
}
