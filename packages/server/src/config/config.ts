import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { type AllowanceConfig, loadAllowanceConfig } from "./allowances.ts"
import { type DependencyConfig, loadDependencyConfig } from "./dependencies.ts"
import { type EgressConfig, loadEgressConfig } from "./egress.ts"
import { type EmailConfig, loadEmailConfig } from "./emails.ts"
import { loadMailConfig, type MailConfig } from "./mail.ts"
import { loadOpenAiConfig, type OpenAiConfig } from "./openai.ts"
import { type Env, options } from "./options.ts"
import {
  ConfigError,
  type ReadSetting,
  readBaseUrl,
  readChoice,
  readDatabaseUrl,
  readDomain,
  readFormerBaseUrls,
  readHeader,
  readInteger,
  readKeys,
  readRate,
  readToken,
  readUser,
  toUsername,
} from "./readers.ts"
import { loadRunConfig, type RunConfig } from "./runs.ts"
import { loadScheduleConfig, type ScheduleConfig } from "./schedules.ts"
import { loadOidcConfig, type OidcConfig } from "./sign-in/oidc.ts"
import { loadStorageConfig, type StorageConfig } from "./storage.ts"

export { ConfigError, options }

/** All settings. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly databaseConnectionsMax: number
  readonly baseUrl: string
  readonly formerBaseUrls: readonly string[]
  readonly valsDomain: string
  /** The server is for other machines: rate limits and strong isolation are required. */
  readonly isPublic: boolean
  readonly user: string
  readonly token: string | undefined
  readonly sessionDays: number
  readonly secretKeys: readonly Uint8Array[] | undefined
  readonly ratePerToken: number | undefined
  readonly ratePerAddress: number | undefined
  readonly addressHeader: string | undefined
  /** Whether clients without a token may call public vals. */
  readonly allowsAnonymousRuns: boolean
  readonly bodyBytesMax: number
  readonly logLevel: "debug" | "info" | "warn" | "error" | "none"
  readonly hasAddressesInLog: boolean
  readonly isolation: "auto" | "bubblewrap" | "deno"
  readonly runs: RunConfig
  readonly schedules: ScheduleConfig
  readonly egress: EgressConfig
  readonly dependencies: DependencyConfig
  readonly storage: StorageConfig
  readonly allowances: AllowanceConfig
  readonly openAi: OpenAiConfig
  readonly emails: EmailConfig
  readonly mail: MailConfig
  /** Undefined for no OpenID Connect provider. */
  readonly oidc: OidcConfig | undefined
}

/** Whether other machines can reach the server. Weak isolation is refused then. */
export function isForOthers({ isPublic, host }: Pick<Config, "isPublic" | "host">): boolean {
  return isPublic || !isOfThisMachine(host)
}

/** Whether other machines can reach the server, but links lead them to themselves. */
export function hasLocalLinks(config: Pick<Config, "host" | "baseUrl" | "valsDomain">): boolean {
  const [baseHost, valsHost] = toLinkHosts(config)
  return !isOfThisMachine(config.host) && (isOfThisMachine(baseHost) || isOfThisMachine(valsHost))
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
): Config {
  const flags = parseFlags(args)
  const read = (name: Env) => flags[toFlag(name)] ?? env[name] ?? ""
  const host = read("HAMLET_HOST") || "127.0.0.1"
  const port = readInteger("HAMLET_PORT", read("HAMLET_PORT"), 0, 65_535) ?? 8080
  const baseUrl = readBaseUrl(read("HAMLET_BASE_URL")) ?? `http://localhost:${port}`
  const valsDomain = readDomain(read("HAMLET_VALS_DOMAIN")) ?? `localhost:${port}`
  const isPublic = readIsPublic(read, { host, baseUrl, valsDomain })
  return {
    host,
    port,
    dataDir: resolve(read("HAMLET_DATA_DIR") || "./data"),
    databaseUrl: readDatabaseUrl(read("HAMLET_DATABASE_URL")),
    databaseConnectionsMax:
      readInteger(
        "HAMLET_DATABASE_CONNECTIONS_MAX",
        read("HAMLET_DATABASE_CONNECTIONS_MAX"),
        2,
        1000,
      ) ?? 10,
    baseUrl,
    formerBaseUrls: readFormerBaseUrls(read("HAMLET_FORMER_BASE_URLS")),
    valsDomain,
    isPublic,
    user: readUser(read("HAMLET_USER")) ?? toUsername(env.USER ?? env.LOGNAME ?? ""),
    token: readToken(read("HAMLET_TOKEN")),
    sessionDays: readInteger("HAMLET_SESSION_DAYS", read("HAMLET_SESSION_DAYS"), 1, 3650) ?? 30,
    secretKeys: readKeys(read("HAMLET_SECRET_KEY")),
    ratePerToken: readRate(
      "HAMLET_RATE_PER_TOKEN",
      read("HAMLET_RATE_PER_TOKEN"),
      isPublic ? 10_000 : undefined,
    ),
    ratePerAddress: readRate(
      "HAMLET_RATE_PER_ADDRESS",
      read("HAMLET_RATE_PER_ADDRESS"),
      isPublic ? 1_000 : undefined,
    ),
    addressHeader: readHeader(read("HAMLET_ADDRESS_HEADER")),
    allowsAnonymousRuns:
      readChoice("HAMLET_ANONYMOUS_RUNS", read("HAMLET_ANONYMOUS_RUNS"), ["no", "yes"]) === "yes",
    bodyBytesMax:
      readInteger("HAMLET_BODY_BYTES_MAX", read("HAMLET_BODY_BYTES_MAX"), 1024, 1_073_741_824) ??
      2_097_152,
    logLevel: readChoice(
      "HAMLET_LOG_LEVEL",
      read("HAMLET_LOG_LEVEL") || (isOnTerminal ? "warn" : "info"),
      ["info", "debug", "warn", "error", "none"],
    ),
    hasAddressesInLog:
      readChoice("HAMLET_LOG_ADDRESSES", read("HAMLET_LOG_ADDRESSES"), ["yes", "no"]) === "yes",
    isolation: readChoice("HAMLET_ISOLATION", read("HAMLET_ISOLATION"), [
      "auto",
      "bubblewrap",
      "deno",
    ]),
    runs: loadRunConfig(read),
    schedules: loadScheduleConfig(read),
    egress: loadEgressConfig(read, isPublic),
    dependencies: loadDependencyConfig(read),
    storage: loadStorageConfig(read),
    allowances: loadAllowanceConfig(read, isPublic),
    openAi: loadOpenAiConfig(read, isPublic),
    emails: loadEmailConfig(read, new URL(baseUrl).hostname),
    mail: loadMailConfig(read, host),
    oidc: loadOidcConfig(read, baseUrl),
  }
}

/** The flag of a setting, without its dashes. */
export function toFlag(env: Env): string {
  return env.replace("HAMLET_", "").toLowerCase().replaceAll("_", "-")
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

/**
 * Whether the server is for other machines. The listening address does not tell: a proxy on the
 * same machine connects to loopback, and its clients come from anywhere.
 */
function readIsPublic(
  read: ReadSetting,
  { host, baseUrl, valsDomain }: Pick<Config, "host" | "baseUrl" | "valsDomain">,
): boolean {
  const chosen = readChoice("HAMLET_PUBLIC", read("HAMLET_PUBLIC"), ["auto", "yes", "no"])
  if (chosen !== "auto") return chosen === "yes"
  return ![host, ...toLinkHosts({ baseUrl, valsDomain })].every(isOfThisMachine)
}

function toLinkHosts({ baseUrl, valsDomain }: Pick<Config, "baseUrl" | "valsDomain">) {
  return [new URL(baseUrl).hostname, valsDomain.replace(/:\d+$/, "")] as const
}

/** Whether a host name or address is loopback. */
function isOfThisMachine(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[?::1\]?|([^.]+\.)*localhost)$/i.test(host)
}
