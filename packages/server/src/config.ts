import { resolve } from "node:path"
import { parseArgs } from "node:util"

/** Everything that an operator can set. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly databaseUrl: string | undefined
  readonly databaseConnectionsMax: number
  readonly baseUrl: string
  readonly valsDomain: string
  readonly user: string
  readonly token: string | undefined
  readonly secretKeys: readonly Uint8Array[] | undefined
  readonly ratePerToken: number | undefined
  readonly ratePerAddress: number | undefined
  readonly addressHeader: string | undefined
  readonly bodyBytesMax: number
  readonly logLevel: "debug" | "info" | "warn" | "error" | "none"
}

/** One setting: docs/configuration.md is made from these. The flag is the name without `HAMLET_`, in kebab-case. */
export interface Option {
  readonly env: string
  readonly default: string
  readonly meaning: string
}

/** Every setting there is. */
export const options = [
  { env: "HAMLET_HOST", default: "127.0.0.1", meaning: "Address to listen on. `0.0.0.0` for every network the machine is in." },
  { env: "HAMLET_PORT", default: "8080", meaning: "Port to listen on; `0` takes any that is free." },
  { env: "HAMLET_DATA_DIR", default: "./data", meaning: "Folder for the SQLite database and the key of secrets." },
  {
    env: "HAMLET_DATABASE_URL",
    default: "",
    meaning: "`postgres://user:password@host/database` to use PostgreSQL (14 or newer). Empty: SQLite in the data folder.",
  },
  { env: "HAMLET_DATABASE_CONNECTIONS_MAX", default: "10", meaning: "Connections to PostgreSQL." },
  {
    env: "HAMLET_BASE_URL",
    default: "http://localhost:PORT",
    meaning: "The address people use, without a slash at the end. Every link in an answer begins with it.",
  },
  {
    env: "HAMLET_VALS_DOMAIN",
    default: "localhost:PORT",
    meaning: "Host and port under which vals have addresses of their own: `{user}-{val}.{domain}`.",
  },
  { env: "HAMLET_USER", default: "the name you are logged in as", meaning: "Name of the first user, created at the first start." },
  {
    env: "HAMLET_TOKEN",
    default: "",
    meaning:
      "Token of the first user, 32 to 200 visible ASCII characters, for automation. Empty: one is made up at the first start and printed once.",
  },
  {
    env: "HAMLET_SECRET_KEY",
    default: "",
    meaning:
      "Keys that encrypt secrets, each 32 bytes in base64, separated by commas; the first encrypts, all decrypt. Empty: a key file in the data folder. Several nodes need the same keys.",
  },
  { env: "HAMLET_RATE_PER_TOKEN", default: "none on loopback, else 10000", meaning: "Requests a minute for each token, or `none`." },
  {
    env: "HAMLET_RATE_PER_ADDRESS",
    default: "none on loopback, else 1000",
    meaning: "Requests a minute for each address that sends no valid token, or `none`.",
  },
  {
    env: "HAMLET_ADDRESS_HEADER",
    default: "",
    meaning:
      "Header in which a proxy that you run gives the client's address, such as `x-forwarded-for` (its last entry counts). Empty: the address of the connection.",
  },
  { env: "HAMLET_BODY_BYTES_MAX", default: "2097152", meaning: "Largest body of a request to the API, in bytes." },
  {
    env: "HAMLET_LOG_LEVEL",
    default: "info",
    meaning: "`debug`, `info` (every request), `warn`, `error` or `none`. Logs are JSON lines on standard error.",
  },
] as const satisfies readonly Option[]

type Env = (typeof options)[number]["env"]

/** A setting that cannot be used; the message is one sentence for the operator. */
export class ConfigError extends Error {}

/** Reads the settings from flags and, where there is no flag, from the environment. */
export function loadConfig(env: Readonly<Record<string, string | undefined>>, args: readonly string[]): Config {
  const flags = parseFlags(args)
  const read = (name: Env) => flags[toFlag(name)] ?? env[name] ?? ""
  const host = read("HAMLET_HOST") || "127.0.0.1"
  const port = readInteger("HAMLET_PORT", read("HAMLET_PORT"), 0, 65_535) ?? 8080
  const isLoopback = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(host)
  return {
    host,
    port,
    dataDir: resolve(read("HAMLET_DATA_DIR") || "./data"),
    databaseUrl: readDatabaseUrl(read("HAMLET_DATABASE_URL")),
    databaseConnectionsMax: readInteger("HAMLET_DATABASE_CONNECTIONS_MAX", read("HAMLET_DATABASE_CONNECTIONS_MAX"), 2, 1000) ?? 10,
    baseUrl: readBaseUrl(read("HAMLET_BASE_URL")) ?? `http://localhost:${port}`,
    valsDomain: readDomain(read("HAMLET_VALS_DOMAIN")) ?? `localhost:${port}`,
    user: readUser(read("HAMLET_USER")) ?? toUsername(env.USER ?? env.LOGNAME ?? ""),
    token: readToken(read("HAMLET_TOKEN")),
    secretKeys: readKeys(read("HAMLET_SECRET_KEY")),
    ratePerToken: readRate("HAMLET_RATE_PER_TOKEN", read("HAMLET_RATE_PER_TOKEN"), isLoopback ? undefined : 10_000),
    ratePerAddress: readRate("HAMLET_RATE_PER_ADDRESS", read("HAMLET_RATE_PER_ADDRESS"), isLoopback ? undefined : 1_000),
    addressHeader: readHeader(read("HAMLET_ADDRESS_HEADER")),
    bodyBytesMax: readInteger("HAMLET_BODY_BYTES_MAX", read("HAMLET_BODY_BYTES_MAX"), 1024, 1_073_741_824) ?? 2_097_152,
    logLevel: readLogLevel(read("HAMLET_LOG_LEVEL")),
  }
}

function toFlag(env: Env): string {
  return env.replace("HAMLET_", "").toLowerCase().replaceAll("_", "-")
}

function parseFlags(args: readonly string[]): Readonly<Record<string, string | undefined>> {
  const known = Object.fromEntries(options.map(({ env }) => [toFlag(env), { type: "string" as const }]))
  try {
    return parseArgs({ args: [...args], options: known, strict: true }).values as Record<string, string>
  } catch (error) {
    // What follows the first sentence is advice for whoever wrote the program.
    const [problem] = String(error instanceof Error ? error.message : error).split(/\.\s/)
    throw new ConfigError(`Cannot understand the command line: ${problem}`)
  }
}

function fail(env: Env, value: string, reason: string): never {
  throw new ConfigError(`Cannot use ${env} "${value}": ${reason}`)
}

function readInteger(env: Env, text: string, min: number, max: number): number | undefined {
  if (text === "") return undefined
  const number = Number(text)
  return /^\d+$/.test(text) && number >= min && number <= max ? number : fail(env, text, `it must be a whole number from ${min} to ${max}`)
}

function readRate(env: Env, text: string, standard: number | undefined): number | undefined {
  return text === "none" ? undefined : (readInteger(env, text, 1, 1_000_000_000) ?? standard)
}

function readDatabaseUrl(text: string): string | undefined {
  if (text === "") return undefined
  // The address may hold a password, so it is not repeated.
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text)
    ? text
    : fail("HAMLET_DATABASE_URL", "…", "it must begin with postgres:// and be a valid address")
}

function readBaseUrl(text: string): string | undefined {
  if (text === "") return undefined
  // Paths are put behind it, so that a query could not stay at the end; a password would be in every link.
  if (!/^https?:\/\/[^\s?#@]+$/.test(text) || !URL.canParse(text)) {
    fail("HAMLET_BASE_URL", text, "it must be an http or https address without a query or a password")
  }
  return text.replace(/\/+$/, "")
}

function readDomain(text: string): string | undefined {
  if (text === "") return undefined
  return /^[a-z0-9.-]+(:\d{1,5})?$/i.test(text)
    ? text.toLowerCase()
    : fail("HAMLET_VALS_DOMAIN", text, "it must be a host name, with a port if need be")
}

const usernamePattern = /^[a-zA-Z][a-zA-Z0-9_]{0,29}$/

function readUser(text: string): string | undefined {
  if (text === "") return undefined
  return usernamePattern.test(text) ? text : fail("HAMLET_USER", text, "it must be 1 to 30 letters, digits and underscores, a letter first")
}

function toUsername(login: string): string {
  const name = login.replaceAll(/[^a-zA-Z0-9_]/g, "_").slice(0, 30)
  return usernamePattern.test(name) ? name : "me"
}

function readToken(text: string): string | undefined {
  if (text === "") return undefined
  return /^[\x21-\x7e]{32,200}$/.test(text) ? text : fail("HAMLET_TOKEN", "…", "it must be 32 to 200 visible ASCII characters")
}

function readKeys(text: string): readonly Uint8Array[] | undefined {
  if (text === "") return undefined
  const keys = text.split(",").map((part) => Buffer.from(part.trim(), "base64"))
  return keys.every((key) => key.length === 32) ? keys : fail("HAMLET_SECRET_KEY", "…", "each key must be 32 bytes in base64")
}

function readHeader(text: string): string | undefined {
  if (text === "") return undefined
  return /^[\w.-]+$/.test(text) ? text.toLowerCase() : fail("HAMLET_ADDRESS_HEADER", text, "it must be the name of a header")
}

function readLogLevel(text: string): Config["logLevel"] {
  const levels = ["debug", "info", "warn", "error", "none"] as const
  if (text === "") return "info"
  return levels.find((level) => level === text) ?? fail("HAMLET_LOG_LEVEL", text, `it must be one of ${levels.join(", ")}`)
}
