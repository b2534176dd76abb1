/**
 * One setting: docs/configuration.md is made from these. The flag is the name without `HAMLET_`, in
 * kebab-case.
 */
export interface Option {
  readonly env: string
  readonly default: string
  readonly meaning: string
}

/** Every setting there is. */
export const options = [
  {
    env: "HAMLET_HOST",
    default: "127.0.0.1",
    meaning: "Address to listen on. `0.0.0.0` for every network the machine is in.",
  },
  {
    env: "HAMLET_PORT",
    default: "8080",
    meaning: "Port to listen on; `0` takes any that is free.",
  },
  {
    env: "HAMLET_DATA_DIR",
    default: "./data",
    meaning: "Folder for the SQLite database and the key of secrets.",
  },
  {
    env: "HAMLET_DATABASE_URL",
    default: "",
    meaning:
      "`postgres://user:password@host/database` to use PostgreSQL (14 or newer). Empty: SQLite in the data folder.",
  },
  { env: "HAMLET_DATABASE_CONNECTIONS_MAX", default: "10", meaning: "Connections to PostgreSQL." },
  {
    env: "HAMLET_BASE_URL",
    default: "http://localhost:PORT",
    meaning:
      "The address people use, without a slash at the end. Every link in an answer begins with it.",
  },
  {
    env: "HAMLET_FORMER_BASE_URLS",
    default: "",
    meaning:
      "Addresses that this server had before, separated by commas, at most 20. An import of a val by one of them means the val on this server.",
  },
  {
    env: "HAMLET_VALS_DOMAIN",
    default: "localhost:PORT",
    meaning: "Host and port under which vals have addresses of their own: `{user}-{val}.{domain}`.",
  },
  {
    env: "HAMLET_PUBLIC",
    default: "auto",
    meaning:
      "Whether the server is for others: `yes` or `no`. `auto`: yes, unless host, base URL and domain of vals all name this machine (`localhost`, `127.0.0.1`). For others there are rate limits, and vals have to be isolated by bubblewrap.",
  },
  {
    env: "HAMLET_USER",
    default: "the name you are logged in as",
    meaning: "Name of the first user, created at the first start.",
  },
  {
    env: "HAMLET_TOKEN",
    default: "",
    meaning:
      "Token of the first user, 32 to 200 visible ASCII characters, for automation. Another value replaces it at the next start: the token before stops working, and the sessions that came from it end. Empty: a token is made up at the first start and printed once.",
  },
  {
    env: "HAMLET_SESSION_DAYS",
    default: "30",
    meaning: "Days after which a browser that was not used is signed out.",
  },
  {
    env: "HAMLET_SECRET_KEY",
    default: "",
    meaning:
      "Keys that encrypt secrets, each 32 bytes in base64, separated by commas; the first encrypts, all decrypt. Empty: a key file in the data folder. Several nodes need the same keys.",
  },
  {
    env: "HAMLET_RATE_PER_TOKEN",
    default: "10000 for others, none for this machine",
    meaning: "Requests a minute for each token, or `none`.",
  },
  {
    env: "HAMLET_RATE_PER_ADDRESS",
    default: "1000 for others, none for this machine",
    meaning: "Requests a minute for each address that sends no valid token, or `none`.",
  },
  {
    env: "HAMLET_ADDRESS_HEADER",
    default: "",
    meaning:
      "Header in which a proxy that you run gives the client's address, such as `x-forwarded-for` (its last entry counts). Empty: the address of the connection.",
  },
  {
    env: "HAMLET_ANONYMOUS_RUNS",
    default: "no",
    meaning:
      "Whether `/v1/run/{user}.{val}` calls public vals for clients without a token: `yes` or `no`. They run on the account of their owner, without its secrets.",
  },
  {
    env: "HAMLET_BODY_BYTES_MAX",
    default: "2097152",
    meaning: "Largest body of a request to the API, in bytes.",
  },
  {
    env: "HAMLET_ISOLATION",
    default: "auto",
    meaning:
      "What stands between vals and the machine: `bubblewrap` (namespaces without a network, Linux), `deno` (Deno's permissions only), or `auto`, the best there is. Where `auto` finds `deno` only, the server is for one user on this machine; `deno` spelled out lifts that.",
  },
  {
    env: "HAMLET_RUN_SECONDS_MAX",
    default: "60",
    meaning: "Time until a val has begun its answer, or a call has returned.",
  },
  {
    env: "HAMLET_STREAM_SECONDS_MAX",
    default: "3600",
    meaning: "Time for the rest of an answer, and for a WebSocket.",
  },
  {
    env: "HAMLET_VAL_MEMORY_MB",
    default: "256",
    meaning: "Memory of one val's process, its scratch folder included.",
  },
  {
    env: "HAMLET_VAL_SCRATCH_MB",
    default: "32",
    meaning: "Size of the folder `/tmp` of one val's process, which is in memory.",
  },
  {
    env: "HAMLET_VAL_CPU_SECONDS_MAX",
    default: "30",
    meaning:
      "CPU time that a val's process may take without a pause and without any of its runs ending.",
  },
  {
    env: "HAMLET_VAL_BODY_BYTES_MAX",
    default: "1073741824",
    meaning: "Largest body of a request to a val's web address, in bytes.",
  },
  {
    env: "HAMLET_RUNS_PER_VAL_MAX",
    default: "256",
    meaning: "Runs of one val at the same time; more have to wait.",
  },
  {
    env: "HAMLET_RUNS_PER_ACCOUNT_MAX",
    default: "1024",
    meaning: "Runs on one account at the same time; more have to wait.",
  },
  {
    env: "HAMLET_PROCESSES_READY",
    default: "4",
    meaning: "Processes that are kept started for vals that are not running yet.",
  },
  {
    env: "HAMLET_PROCESSES_READY_MAX",
    default: "64",
    meaning: "How many are kept for some minutes after so many were needed at once.",
  },
  {
    env: "HAMLET_PROCESSES_MAX",
    default: "one for each 64 MB of half the memory",
    meaning:
      "Processes of vals and for vals. When there is no room, the one that was idle for longest ends.",
  },
  {
    env: "HAMLET_PROCESSES_PER_ACCOUNT_MAX",
    default: "three quarters of these",
    meaning:
      "Processes of one account with a run in them at the same time. When several accounts want many, each gets less: the last ones are for accounts that have none. What exceeds the share waits, then gets 429.",
  },
  {
    env: "HAMLET_PROCESSES_MEMORY_MB",
    default: "half the memory",
    meaning:
      "Memory of all these processes together, at most that of the machine or of the server's control group. When it is used up, idle processes end, then those of the account that uses the most.",
  },
  {
    env: "HAMLET_IDLE_SECONDS",
    default: "300",
    meaning: "Time after which a process ends that nobody has asked for anything.",
  },
  {
    env: "HAMLET_PROCESS_SECONDS_MAX",
    default: "3600",
    meaning: "Time after which a val gets a new process, however busy it is.",
  },
  { env: "HAMLET_RUNS_KEPT_DAYS", default: "30", meaning: "Days for which runs are kept." },
  {
    env: "HAMLET_RUNS_KEPT_PER_VAL",
    default: "10000",
    meaning: "Runs that are kept of each val, the latest ones.",
  },
  {
    env: "HAMLET_RUNS_KEPT_MB",
    default: "512",
    meaning:
      "Megabytes of runs that are kept on each account, with their logs, arguments and results, the latest ones.",
  },
  {
    env: "HAMLET_EGRESS_ALLOW",
    default: "",
    meaning:
      "What vals may reach although it is on a private network: hosts, `host:port` or networks such as `10.1.0.0/16`, separated by commas.",
  },
  {
    env: "HAMLET_EGRESS_DENY",
    default: "",
    meaning:
      "What vals may not reach, written likewise; `*` is everything. It wins over what is allowed.",
  },
  {
    env: "HAMLET_EGRESS_PORTS",
    default: "80,443,1024-65535",
    meaning: "Ports that vals may reach. One that is allowed with its host is added.",
  },
  {
    env: "HAMLET_EGRESS_BYTES_MAX",
    default: "1073741824",
    meaning: "Bytes of one outgoing request, and of its answer.",
  },
  {
    env: "HAMLET_EGRESS_SECONDS_MAX",
    default: "300",
    meaning:
      "Time for one outgoing request and its answer. A WebSocket may stay as long as its process.",
  },
  {
    env: "HAMLET_EGRESS_CONNECTIONS_MAX",
    default: "128",
    meaning: "Outgoing requests and WebSockets of one val's process at the same time.",
  },
  {
    env: "HAMLET_EGRESS_REQUESTS_PER_MINUTE",
    default: "6000 for others, none for this machine",
    meaning: "Outgoing requests a minute for each val's process, or `none`.",
  },
  {
    env: "HAMLET_EGRESS_CA",
    default: "",
    meaning:
      "File of certificates, in PEM, of authorities to trust for outgoing requests beside the usual ones.",
  },
  {
    env: "HAMLET_NPM_REGISTRY",
    default: "that of the machine's npm configuration",
    meaning: "Registry from which the npm packages of vals come.",
  },
  {
    env: "HAMLET_JSR_URL",
    default: "https://jsr.io/",
    meaning: "Registry from which their JSR packages come.",
  },
  {
    env: "HAMLET_RESOLVE_SECONDS_MAX",
    default: "120",
    meaning: "Time for fetching what one version of a val imports.",
  },
  { env: "HAMLET_BLOBS_MB_MAX", default: "1024", meaning: "Size of all blobs of one user." },
  { env: "HAMLET_BLOB_BYTES_MAX", default: "104857600", meaning: "Size of one blob, in bytes." },
  {
    env: "HAMLET_S3_URL",
    default: "",
    meaning:
      "Bucket for large blobs: `s3://KEY:SECRET@BUCKET`, with `?endpoint=ADDRESS&region=REGION` if it is not at AWS. Empty: they are in the database.",
  },
  {
    env: "HAMLET_SQLITE_MB_MAX",
    default: "256",
    meaning: "Size of the SQLite database of one user.",
  },
  {
    env: "HAMLET_SQLITE_SECONDS_MAX",
    default: "5",
    meaning: "Time for the statements of one request to it.",
  },
  {
    env: "HAMLET_DATA_DIR_SHARED",
    default: "no",
    meaning:
      "`yes`: all nodes see the same files in the data folder. With PostgreSQL, users have SQLite databases only then.",
  },
  {
    env: "HAMLET_RUNS_PER_MINUTE",
    default: "60000 for others, none for this machine",
    meaning: "Runs a minute on the account of each user, or `none`.",
  },
  {
    env: "HAMLET_EGRESS_MB_PER_MINUTE",
    default: "1000 for others, none for this machine",
    meaning: "Megabytes a minute that the vals of each user send and receive, or `none`.",
  },
  {
    env: "HAMLET_STORAGE_REQUESTS_PER_MINUTE",
    default: "60000 for others, none for this machine",
    meaning: "Requests a minute of each user to their blobs and their database, or `none`.",
  },
  {
    env: "HAMLET_LOG_LEVEL",
    default: "info",
    meaning:
      "`debug`, `info` (every request), `warn`, `error` or `none`. Logs are JSON lines on standard error.",
  },
  {
    env: "HAMLET_LOG_ADDRESSES",
    default: "yes",
    meaning:
      "Whether the log has the addresses of clients, which are personal data in many countries: `yes` or `no`.",
  },
] as const satisfies readonly Option[]

/** The name of a setting in the environment. */
export type Env = (typeof options)[number]["env"]
