import { choice, inLowerCase, integer, rate, text, texts, toggle, webAddress } from "./setting.ts"

/** Where the server listens, has its data, and is reached. */
export const placeSettings = {
  host: text({
    env: "HAMLET_HOST",
    default: "127.0.0.1",
    meaning: "Address to listen on. `0.0.0.0` means every interface.",
  }),
  port: integer({
    env: "HAMLET_PORT",
    default: 8080,
    min: 0,
    max: 65_535,
    meaning: "Port to listen on; `0` means any free port.",
  }),
  metricsPort: integer({
    env: "HAMLET_METRICS_PORT",
    default: "",
    min: 0,
    max: 65_535,
    meaning:
      "Port for `/metrics` alone, on the same address; the other port then responds 404 there. `0` means any free port. Empty: `/metrics` is on the port of the server.",
  }),
  dataDir: text({
    env: "HAMLET_DATA_DIR",
    default: "./data",
    meaning: "Folder for the SQLite database and the encryption key of secrets.",
  }),
  databaseUrl: text({
    env: "HAMLET_DATABASE_URL",
    accept: (value) =>
      /^postgres(ql)?:\/\//.test(value) && URL.canParse(value) ? value : undefined,
    reason: "it must begin with postgres:// and be a valid address",
    isSecret: true,
    meaning:
      "`postgres://user:password@host/database` to use PostgreSQL (14 or newer). Empty: SQLite in the data folder.",
  }),
  databaseConnectionsMax: integer({
    env: "HAMLET_DATABASE_CONNECTIONS_MAX",
    default: 10,
    min: 2,
    max: 1000,
    meaning: "Connections to PostgreSQL.",
  }),
  baseUrl: text({
    env: "HAMLET_BASE_URL",
    default: "http://localhost:PORT",
    ...webAddress,
    meaning:
      "The public address, without a trailing slash. Every link in a response starts with it.",
  }),
  formerBaseUrls: texts({
    env: "HAMLET_FORMER_BASE_URLS",
    ...webAddress,
    itemsMax: 20,
    meaning:
      "Former addresses of this server, separated by commas, at most 20. An import of a val from one of them means the val on this server.",
  }),
  valsDomain: text({
    env: "HAMLET_VALS_DOMAIN",
    default: "localhost:PORT",
    accept: inLowerCase(/^[a-z0-9.-]+(:\d{1,5})?$/i),
    reason: "it must be a host name, with a port if need be",
    meaning: "Host and port under which vals have their addresses: `{user}-{val}.{domain}`.",
  }),
  publicity: choice({
    env: "HAMLET_PUBLIC",
    choices: ["auto", "yes", "no"],
    meaning:
      "Whether the server is public: `yes` or `no`. `auto` means yes, unless host, base URL and vals domain all name this machine (`localhost`, `127.0.0.1`). A public server has rate limits and requires bubblewrap.",
  }),
}

export const usernamePattern = /^[a-zA-Z][a-zA-Z0-9_]{0,29}$/

/** Who may use the server, how much, and how it protects itself. */
export const accessSettings = {
  user: text({
    env: "HAMLET_USER",
    default: "your login name",
    accept: usernamePattern,
    reason: "it must be 1 to 30 letters, digits and underscores, a letter first",
    meaning: "Name of the first user, created at the first start.",
  }),
  token: text({
    env: "HAMLET_TOKEN",
    accept: /^[\x21-\x7e]{32,200}$/,
    reason: "it must be 32 to 200 visible ASCII characters",
    isSecret: true,
    meaning:
      "Token of the first user, 32 to 200 visible ASCII characters, for automation. A changed value replaces the token at the next start: the previous token and its sessions become invalid. Empty: the first start creates a token and prints it once.",
  }),
  metricsToken: text({
    env: "HAMLET_METRICS_TOKEN",
    accept: /^[\x21-\x7e]{32,200}$/,
    reason: "it must be 32 to 200 visible ASCII characters",
    isSecret: true,
    meaning:
      "Token that `/metrics` requires, as `Authorization: Bearer`, 32 to 200 visible ASCII characters. It opens nothing else. Empty: `/metrics` needs no token.",
  }),
  sessionDays: integer({
    env: "HAMLET_SESSION_DAYS",
    default: 30,
    max: 3650,
    meaning: "Days after which an unused browser session ends.",
  }),
  secretKeys: text({
    env: "HAMLET_SECRET_KEY",
    accept: toKeys,
    reason: "each key must be 32 bytes in base64",
    isSecret: true,
    meaning:
      "Keys that encrypt secrets, each 32 bytes in base64, separated by commas; the first encrypts, all decrypt. Empty: a key file in the data folder. Several nodes need the same keys.",
  }),
  ratePerToken: rate({
    env: "HAMLET_RATE_PER_TOKEN",
    default: 10_000,
    ifPublic: true,
    meaning: "Requests per minute and token, or `none`.",
  }),
  ratePerAddress: rate({
    env: "HAMLET_RATE_PER_ADDRESS",
    default: 1_000,
    ifPublic: true,
    meaning: "Requests per minute and client address without a valid token, or `none`.",
  }),
  addressHeader: text({
    env: "HAMLET_ADDRESS_HEADER",
    accept: inLowerCase(/^[\w.-]+$/),
    reason: "it must be the name of a header",
    meaning:
      "Header in which your proxy sends the client's address, such as `x-forwarded-for` (its last entry is used). Empty: the address of the connection.",
  }),
  allowsAnonymousRuns: toggle({
    env: "HAMLET_ANONYMOUS_RUNS",
    meaning:
      "Whether clients without a token may call public vals through `/v1/run/{user}.{val}`: `yes` or `no`. The vals run on the account of their owner, without secrets.",
  }),
  orgCreation: choice({
    env: "HAMLET_ORG_CREATION",
    choices: ["everyone", "admins"],
    meaning: "Who may create organisations: `everyone` with an account, or `admins` only.",
  }),
  bodyBytesMax: integer({
    env: "HAMLET_BODY_BYTES_MAX",
    default: 2_097_152,
    min: 1024,
    max: 1_073_741_824,
    meaning: "Largest body of a request to the API, in bytes.",
  }),
  receiveBufferBytes: integer({
    env: "HAMLET_RECEIVE_BUFFER_BYTES",
    default: 32_768,
    min: 4_096,
    max: 16_777_216,
    meaning:
      "What the kernel receives of one connection before the server reads it, in bytes. A client that is far away uploads about so much in the time of a round trip. With more, clients that send tiny chunks over many connections at once can stop the server for longer.",
  }),
  isolation: choice({
    env: "HAMLET_ISOLATION",
    choices: ["auto", "bubblewrap", "deno"],
    meaning:
      "The isolation of vals: `bubblewrap` (namespaces without a network, Linux), `deno` (Deno's permissions only), or `auto`, the strongest available. If `auto` finds only `deno`, the server accepts one user on this machine; setting `deno` lifts that.",
  }),
  /** How long the server goes on after a stop signal, while `/readyz` tells balancers. */
  drainMs: integer({
    env: "HAMLET_DRAIN_SECONDS",
    default: 0,
    min: 0,
    max: 3600,
    unit: 1000,
    meaning:
      "How long the server goes on to serve after SIGTERM while `/readyz` responds 503, so that balancers that poll it send new requests elsewhere. At most 3600.",
  }),
}

const logLevels = ["info", "debug", "warn", "error", "none"] as const

export const logSettings = {
  logLevel: text<(typeof logLevels)[number]>({
    env: "HAMLET_LOG_LEVEL",
    default: "info, on a terminal warn",
    accept: (value) => logLevels.find((level) => level === value),
    reason: `it must be one of ${logLevels.join(", ")}`,
    meaning:
      "`debug`, `info` (every request), `warn`, `error` or `none`. Logs are JSON lines on standard error.",
  }),
  hasAddressesInLog: toggle({
    env: "HAMLET_LOG_ADDRESSES",
    choices: ["yes", "no"],
    meaning:
      "Whether the log contains client addresses, which are personal data in many countries: `yes` or `no`.",
  }),
  slowRequestMs: rate({
    env: "HAMLET_SLOW_REQUEST_MS",
    default: 5_000,
    meaning:
      "Milliseconds after which a request is logged as `slow_request` with what it waited for, or `none`. At most 20 lines a minute.",
  }),
  slowStatementMs: rate({
    env: "HAMLET_SLOW_STATEMENT_MS",
    default: 1_000,
    meaning:
      "Milliseconds after which a read or a transaction of the database is logged as `slow_statement`, without its values, or `none`. At most 20 lines a minute.",
  }),
}

function toKeys(value: string): readonly Uint8Array[] | undefined {
  const keys = value.split(",").map((part) => Buffer.from(part.trim(), "base64"))
  return keys.every((key) => key.length === 32) ? keys : undefined
}
