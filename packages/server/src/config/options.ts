import { emailOptions } from "./email-options.ts"
import type { Option } from "./option.ts"
import { oidcOptions } from "./sign-in/oidc-options.ts"

/** All settings. docs/configuration.md is generated from this table. */
export const options = [
  {
    env: "HAMLET_HOST",
    default: "127.0.0.1",
    meaning: "Address to listen on. `0.0.0.0` means every interface.",
  },
  {
    env: "HAMLET_PORT",
    default: "8080",
    meaning: "Port to listen on; `0` means any free port.",
  },
  {
    env: "HAMLET_DATA_DIR",
    default: "./data",
    meaning: "Folder for the SQLite database and the encryption key of secrets.",
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
      "The public address, without a trailing slash. Every link in a response starts with it.",
  },
  {
    env: "HAMLET_FORMER_BASE_URLS",
    default: "",
    meaning:
      "Former addresses of this server, separated by commas, at most 20. An import of a val from one of them means the val on this server.",
  },
  {
    env: "HAMLET_VALS_DOMAIN",
    default: "localhost:PORT",
    meaning: "Host and port under which vals have their addresses: `{user}-{val}.{domain}`.",
  },
  {
    env: "HAMLET_PUBLIC",
    default: "auto",
    meaning:
      "Whether the server is public: `yes` or `no`. `auto` means yes, unless host, base URL and vals domain all name this machine (`localhost`, `127.0.0.1`). A public server has rate limits and requires bubblewrap.",
  },
  {
    env: "HAMLET_USER",
    default: "your login name",
    meaning: "Name of the first user, created at the first start.",
  },
  {
    env: "HAMLET_TOKEN",
    default: "",
    meaning:
      "Token of the first user, 32 to 200 visible ASCII characters, for automation. A changed value replaces the token at the next start: the previous token and its sessions become invalid. Empty: the first start creates a token and prints it once.",
  },
  {
    env: "HAMLET_SESSION_DAYS",
    default: "30",
    meaning: "Days after which an unused browser session ends.",
  },
  {
    env: "HAMLET_SECRET_KEY",
    default: "",
    meaning:
      "Keys that encrypt secrets, each 32 bytes in base64, separated by commas; the first encrypts, all decrypt. Empty: a key file in the data folder. Several nodes need the same keys.",
  },
  {
    env: "HAMLET_RATE_PER_TOKEN",
    default: "10000 if public, else none",
    meaning: "Requests per minute and token, or `none`.",
  },
  {
    env: "HAMLET_RATE_PER_ADDRESS",
    default: "1000 if public, else none",
    meaning: "Requests per minute and client address without a valid token, or `none`.",
  },
  {
    env: "HAMLET_ADDRESS_HEADER",
    default: "",
    meaning:
      "Header in which your proxy sends the client's address, such as `x-forwarded-for` (its last entry is used). Empty: the address of the connection.",
  },
  {
    env: "HAMLET_ANONYMOUS_RUNS",
    default: "no",
    meaning:
      "Whether clients without a token may call public vals through `/v1/run/{user}.{val}`: `yes` or `no`. The vals run on the account of their owner, without secrets.",
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
      "The isolation of vals: `bubblewrap` (namespaces without a network, Linux), `deno` (Deno's permissions only), or `auto`, the strongest available. If `auto` finds only `deno`, the server accepts one user on this machine; setting `deno` lifts that.",
  },
  {
    env: "HAMLET_RUN_SECONDS_MAX",
    default: "60",
    meaning: "Time limit until a val starts its response or a call returns.",
  },
  {
    env: "HAMLET_STREAM_SECONDS_MAX",
    default: "3600",
    meaning: "Time limit of the rest of a response, and of a WebSocket.",
  },
  {
    env: "HAMLET_VAL_MEMORY_MB",
    default: "256",
    meaning: "Memory of a val's process, including its scratch folder.",
  },
  {
    env: "HAMLET_VAL_SCRATCH_MB",
    default: "32",
    meaning: "Size of the folder `/tmp` of a val's process, which is in memory.",
  },
  {
    env: "HAMLET_VAL_CPU_SECONDS_MAX",
    default: "30",
    meaning: "CPU time that a val's process may use without a pause while none of its runs ends.",
  },
  {
    env: "HAMLET_VAL_BODY_BYTES_MAX",
    default: "1073741824",
    meaning: "Largest body of a request to a val's web address, in bytes.",
  },
  {
    env: "HAMLET_RUNS_PER_VAL_MAX",
    default: "256",
    meaning: "Concurrent runs of one val; further runs wait.",
  },
  {
    env: "HAMLET_RUNS_PER_ACCOUNT_MAX",
    default: "1024",
    meaning: "Concurrent runs on one account; further runs wait.",
  },
  {
    env: "HAMLET_PROCESSES_READY",
    default: "4",
    meaning: "Started processes in the pool, ready for vals.",
  },
  {
    env: "HAMLET_PROCESSES_READY_MAX",
    default: "64",
    meaning:
      "The largest size of the pool, kept for some minutes after that many processes were needed at once.",
  },
  {
    env: "HAMLET_PROCESSES_MAX",
    default: "one for each 64 MB of half the memory",
    meaning:
      "All processes, in the pool or with a val. At the limit, the process that was idle longest ends.",
  },
  {
    env: "HAMLET_PROCESSES_PER_ACCOUNT_MAX",
    default: "three quarters of all",
    meaning:
      "Busy processes of one account. When several accounts compete, each gets fewer: the last ones are reserved for accounts that have none. Runs beyond the share wait, then get 429.",
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
    meaning: "Time after which an idle process ends.",
  },
  {
    env: "HAMLET_PROCESS_SECONDS_MAX",
    default: "3600",
    meaning: "Time after which a val gets a new process, even while it is busy.",
  },
  {
    env: "HAMLET_QUEUE_RUNS_MAX",
    default: "256",
    meaning:
      "Runs of the queue that a node has at once: runs that no caller waits for. One account has at most a quarter of them; further runs wait.",
  },
  {
    env: "HAMLET_QUEUED_RUNS_PER_ACCOUNT_MAX",
    default: "10000",
    meaning: "Runs of one account that wait in the queue; further ones are refused.",
  },
  { env: "HAMLET_RUNS_KEPT_DAYS", default: "30", meaning: "Days for which runs are stored." },
  {
    env: "HAMLET_RUNS_KEPT_PER_VAL",
    default: "10000",
    meaning: "Number of the latest runs that are stored per val.",
  },
  {
    env: "HAMLET_RUNS_KEPT_MB",
    default: "512",
    meaning:
      "Megabytes of the latest runs that are stored per account, with logs, arguments and return values.",
  },
  {
    env: "HAMLET_RESPONSE_BYTES_KEPT",
    default: "16384",
    meaning:
      "Bytes that a run keeps of the body of a val's response, if it is text; its owner can read them. `0` keeps neither bodies nor headers.",
  },
  {
    env: "HAMLET_SCHEDULES_PER_USER_MAX",
    default: "100",
    meaning: "Schedules of one user; `0` for none.",
  },
  {
    env: "HAMLET_SCHEDULE_SECONDS_MIN",
    default: "1",
    meaning: "The least number of seconds between two due times of a schedule.",
  },
  {
    env: "HAMLET_EGRESS_ALLOW",
    default: "",
    meaning:
      "Private destinations that vals may reach: hosts, `host:port` or networks such as `10.1.0.0/16`, separated by commas.",
  },
  {
    env: "HAMLET_EGRESS_DENY",
    default: "",
    meaning:
      "Destinations that vals may not reach, in the same format; `*` means all. It takes precedence over the allowed ones.",
  },
  {
    env: "HAMLET_EGRESS_PORTS",
    default: "80,443,1024-65535",
    meaning: "Ports that vals may reach, in addition to ports in HAMLET_EGRESS_ALLOW.",
  },
  {
    env: "HAMLET_EGRESS_SOCKET_PORTS",
    default:
      "80,443,465,587,993,995,1433,3306,4222,5432-5434,5671,5672,6379-6381,6432,6543,7687,8000,8080,8443,8883,9000,9042,9092-9094,9200,11211,26257,27017-27019",
    meaning:
      "Ports that vals may reach over TCP sockets, in addition to ports in HAMLET_EGRESS_ALLOW, or `none`. If only HAMLET_EGRESS_PORTS is set, the default ports that are in it.",
  },
  {
    env: "HAMLET_EGRESS_BYTES_MAX",
    default: "1073741824",
    meaning: "Size limit of an outgoing request, and of its response.",
  },
  {
    env: "HAMLET_EGRESS_SECONDS_MAX",
    default: "300",
    meaning:
      "Time limit of an outgoing request and its response. A WebSocket may last as long as its process.",
  },
  {
    env: "HAMLET_EGRESS_CONNECTIONS_MAX",
    default: "128",
    meaning: "Concurrent outgoing requests, WebSockets and sockets of one val's process.",
  },
  {
    env: "HAMLET_EGRESS_SOCKETS_MAX",
    default: "512",
    meaning: "Concurrent TCP sockets of all vals of one account.",
  },
  {
    env: "HAMLET_EGRESS_REQUESTS_PER_MINUTE",
    default: "6000 if public, else none",
    meaning: "Outgoing requests per minute and val process, or `none`.",
  },
  {
    env: "HAMLET_EGRESS_CA",
    default: "",
    meaning: "PEM file of additional certificate authorities for outgoing requests.",
  },
  {
    env: "HAMLET_NPM_REGISTRY",
    default: "from the machine's npm configuration",
    meaning: "Registry of the npm packages of vals.",
  },
  {
    env: "HAMLET_JSR_URL",
    default: "https://jsr.io/",
    meaning: "Registry of the JSR packages of vals.",
  },
  {
    env: "HAMLET_ESM_TOWN",
    default: "fetch",
    meaning:
      "What an import of `https://esm.town/v/{user}/{val}` means if this server has no such val: `fetch` fetches it from there when the version is saved, `local` does not.",
  },
  {
    env: "HAMLET_RESOLVE_SECONDS_MAX",
    default: "120",
    meaning: "Time limit for resolving the packages of one version.",
  },
  { env: "HAMLET_BLOBS_MB_MAX", default: "1024", meaning: "Size of all blobs of one user." },
  { env: "HAMLET_BLOB_BYTES_MAX", default: "104857600", meaning: "Size of one blob, in bytes." },
  {
    env: "HAMLET_S3_URL",
    default: "",
    meaning:
      "Bucket for large blobs: `s3://KEY:SECRET@BUCKET`, with `?endpoint=ADDRESS&region=REGION` if it is not on AWS. Empty: large blobs are stored in the database.",
  },
  {
    env: "HAMLET_SQLITE_MB_MAX",
    default: "256",
    meaning: "Size of the SQLite database of one user.",
  },
  {
    env: "HAMLET_SQLITE_SECONDS_MAX",
    default: "5",
    meaning: "Time limit of the statements of one request to that database.",
  },
  {
    env: "HAMLET_DATA_DIR_SHARED",
    default: "no",
    meaning:
      "`yes` if all nodes share the files in the data folder. With PostgreSQL, users have SQLite databases only then.",
  },
  {
    env: "HAMLET_RUNS_PER_MINUTE",
    default: "60000 if public, else none",
    meaning: "Runs per minute and account, or `none`.",
  },
  {
    env: "HAMLET_EGRESS_MB_PER_MINUTE",
    default: "1000 if public, else none",
    meaning: "Megabytes per minute that the vals of one user send and receive, or `none`.",
  },
  {
    env: "HAMLET_STORAGE_REQUESTS_PER_MINUTE",
    default: "60000 if public, else none",
    meaning: "Requests per minute of one user to their blobs and database, or `none`.",
  },
  {
    env: "HAMLET_OPENAI_URL",
    default: "https://api.openai.com/v1 with a key, else none",
    meaning:
      "Address of a service with OpenAI's wire format, whose language models vals use through `std/openai`.",
  },
  {
    env: "HAMLET_OPENAI_KEY",
    default: "",
    meaning: "Your key for that service. Vals use it but never see it. Empty: no key is sent.",
  },
  {
    env: "HAMLET_OPENAI_REQUESTS_PER_MINUTE",
    default: "10 if public, else none",
    meaning: "Requests per minute of one user to the language models, or `none`.",
  },
  {
    env: "HAMLET_OPENAI_REQUESTS_PER_DAY",
    default: "1000 if public, else none",
    meaning:
      "Requests per day of one user to the language models, or `none`. Each node counts from its start.",
  },
  {
    env: "HAMLET_OPENAI_BODY_BYTES_MAX",
    default: "10485760",
    meaning: "Largest body of a request to the language models, in bytes.",
  },
  ...emailOptions,
  ...oidcOptions,
  {
    env: "HAMLET_LOG_LEVEL",
    default: "info, on a terminal warn",
    meaning:
      "`debug`, `info` (every request), `warn`, `error` or `none`. Logs are JSON lines on standard error.",
  },
  {
    env: "HAMLET_LOG_ADDRESSES",
    default: "yes",
    meaning:
      "Whether the log contains client addresses, which are personal data in many countries: `yes` or `no`.",
  },
] as const satisfies readonly Option[]

/** The name of a setting in the environment. */
export type Env = (typeof options)[number]["env"]
