import { totalmem } from "node:os"
import { resolve } from "node:path"
import { parseArgs } from "node:util"
import { type Env, options } from "./config/options.ts"
import {
  ConfigError,
  readBaseUrl,
  readChoice,
  readDatabaseUrl,
  readDomain,
  readHeader,
  readInteger,
  readKeys,
  readRate,
  readToken,
  readUser,
  toUsername,
} from "./config/readers.ts"

export { ConfigError, options }

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
  readonly isolation: "auto" | "bubblewrap" | "deno"
  readonly runs: RunConfig
}

/** What runs may take, and how long they are remembered. */
export interface RunConfig {
  readonly runMsMax: number
  readonly streamMsMax: number
  readonly valMemoryBytesMax: number
  readonly valScratchBytesMax: number
  readonly valCpuMsMax: number
  readonly valBodyBytesMax: number
  readonly perValMax: number
  readonly perAccountMax: number
  readonly processesReady: number
  readonly processesReadyMax: number
  readonly processesMax: number
  readonly processesMemoryBytesMax: number
  readonly idleMsMax: number
  readonly processMsMax: number
  readonly keptDays: number
  readonly keptPerVal: number
}

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
    logLevel: readChoice("HAMLET_LOG_LEVEL", read("HAMLET_LOG_LEVEL"), ["info", "debug", "warn", "error", "none"]),
    isolation: readChoice("HAMLET_ISOLATION", read("HAMLET_ISOLATION"), ["auto", "bubblewrap", "deno"]),
    runs: loadRunConfig(read),
  }
}

const mega = 1024 ** 2
/** What a process with a small val takes, generously. */
const processBytes = 64 * mega

function loadRunConfig(read: (name: Env) => string): RunConfig {
  const integer = (name: Env, standard: number, max: number, min = 1) => readInteger(name, read(name), min, max) ?? standard
  const memoryMb = Math.floor(totalmem() / 2 / mega)
  const processesMemoryBytesMax = integer("HAMLET_PROCESSES_MEMORY_MB", memoryMb, 1_000_000_000, 64) * mega
  const processesMax = integer("HAMLET_PROCESSES_MAX", Math.max(8, Math.floor(processesMemoryBytesMax / processBytes)), 100_000)
  return {
    runMsMax: integer("HAMLET_RUN_SECONDS_MAX", 60, 86_400) * 1000,
    streamMsMax: integer("HAMLET_STREAM_SECONDS_MAX", 3600, 604_800) * 1000,
    valMemoryBytesMax: integer("HAMLET_VAL_MEMORY_MB", 256, 1_000_000, 64) * mega,
    valScratchBytesMax: integer("HAMLET_VAL_SCRATCH_MB", 32, 1_000_000) * mega,
    valCpuMsMax: integer("HAMLET_VAL_CPU_SECONDS_MAX", 30, 86_400) * 1000,
    valBodyBytesMax: integer("HAMLET_VAL_BODY_BYTES_MAX", 1_073_741_824, Number.MAX_SAFE_INTEGER),
    perValMax: integer("HAMLET_RUNS_PER_VAL_MAX", 256, 1_000_000),
    perAccountMax: integer("HAMLET_RUNS_PER_ACCOUNT_MAX", 1024, 1_000_000),
    processesReady: Math.min(integer("HAMLET_PROCESSES_READY", 4, 10_000, 0), processesMax),
    processesReadyMax: Math.min(integer("HAMLET_PROCESSES_READY_MAX", 64, 10_000, 0), processesMax),
    processesMax,
    processesMemoryBytesMax,
    idleMsMax: integer("HAMLET_IDLE_SECONDS", 300, 604_800) * 1000,
    processMsMax: integer("HAMLET_PROCESS_SECONDS_MAX", 3600, 31_536_000) * 1000,
    keptDays: integer("HAMLET_RUNS_KEPT_DAYS", 30, 36_500),
    keptPerVal: integer("HAMLET_RUNS_KEPT_PER_VAL", 10_000, 1_000_000_000),
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
