import { mkdirSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Client, createClient } from "@hamlet/contract/client"
import { callProgram } from "../../../../scripts/testing/program-calls.ts"
import {
  cleanEnv,
  type Ended,
  hamletPath,
  type Started,
  type StartOptions,
  startAtTerminal,
  startInPipe,
} from "./processes.ts"

const server =
  process.env.HAMLET_TEST_SERVER ??
  fileURLToPath(new URL("../../../server/src/main.ts", import.meta.url))
const manyCalls = fileURLToPath(new URL("./many-calls.ts", import.meta.url))
/** Commands that end with their input, are another program, or end a download by their own end. */
const ownCommands = ["backup", "mcp", "serve"]
/** Variables that are read when a process starts, or meant for programs that it starts. */
const ownVariables = ["BROWSER", "EDITOR", "TZ", "VISUAL"]
const adminToken = "chosen-by-the-operator-0123456789-abcdef"

/** What is said about one call of the program. */
export interface CallOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
}

/** A user with a configuration and a folder of their own. */
export interface Person {
  readonly username: string
  readonly token: string
  readonly client: Client
  readonly folder: string
  readonly configDir: string
  /** Calls the program in a pipe and waits for its end. */
  hamlet(args: readonly string[], options?: CallOptions): Promise<Ended>
  /** Calls the program, which must go well, and returns what it printed. */
  print(args: readonly string[], options?: CallOptions): Promise<string>
  /** Calls the program with `--json`, and returns each line of what it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: what a command prints is whatever the test says it is.
  json(args: readonly string[], options?: CallOptions): Promise<any[]>
  /** Starts it without waiting. */
  start(args: readonly string[], options?: CallOptions): Started
  /** Starts it at a terminal. */
  atTerminal(args: readonly string[], options?: CallOptions): Started
}

/** A real server, and people who use it. */
export interface Stage extends AsyncDisposable {
  readonly url: string
  readonly dataDir: string
  readonly admin: Person
  /** A new user, signed in. */
  person(username: string): Promise<Person>
  /** A user with this token, signed in or not. */
  holder(token: string, isSignedIn?: boolean): Promise<Person>
  /** Kills the server without warning, and starts it again at the same address. Not for a shared one. */
  killServer(): Promise<void>
}

/** Starts a server and signs its first user in. Its database is a file, unless a URL is given. */
export async function openStage(databaseUrl?: string): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "hamlet-cli-"))
  const settings = {
    HAMLET_DATA_DIR: join(folder, "data"),
    HAMLET_PORT: "0",
    HAMLET_USER: "root",
    HAMLET_TOKEN: adminToken,
    // Nothing listens there: mail is accepted, and waits.
    HAMLET_SMTP_URL: "smtp://127.0.0.1:9",
    HAMLET_MAIL_DOMAIN: "mail.test",
  }
  const env = {
    ...settings,
    HAMLET_PROCESSES_READY: "1",
    HAMLET_PROCESSES_READY_MAX: "1",
    HAMLET_PROCESS_WAIT_SECONDS_MAX: "60",
    // A val that runs until it is cancelled must not time out before, on a busy machine.
    HAMLET_RUN_SECONDS_MAX: "600",
    ...(databaseUrl !== undefined && { HAMLET_DATABASE_URL: databaseUrl }),
  }
  let program = startServer(folder, env)
  const isReady = /listens at (\S+)[\s\S]*docs {2,}\S+\n/
  const [, url = ""] = await program.waitFor(isReady)
  let count = 0
  const holder = async (token: string, isSignedIn = true) => {
    count += 1
    return openPerson(join(folder, `home-${count}`), url, token, isSignedIn)
  }
  const admin = await holder(adminToken)
  return {
    url,
    dataDir: settings.HAMLET_DATA_DIR,
    admin,
    holder,
    person: async (username) =>
      holder((await admin.client.createUser({ username, email: null })).token),
    async killServer() {
      program.signal("SIGKILL")
      await program.ended()
      program = startServer(folder, { ...env, HAMLET_PORT: new URL(url).port })
      await program.waitFor(isReady)
    },
    async [Symbol.asyncDispose]() {
      program.signal("SIGTERM")
      await program.ended()
      await rm(folder, { recursive: true })
    },
  }
}

function startServer(cwd: string, env: Readonly<Record<string, string>>): Started {
  return startInPipe(process.execPath, {
    args: [server, "serve"],
    env: { ...cleanEnv(), ...env },
    cwd,
    isLasting: true,
  })
}

/** Whether a call has to be a process of its own. */
function needsProcess({ args, env, input }: StartOptions): boolean {
  const isOwn = ownCommands.includes(args[0] ?? "") || ownVariables.some((name) => name in env)
  return isOwn || input !== undefined
}

async function openPerson(
  home: string,
  url: string,
  token: string,
  isSignedIn: boolean,
): Promise<Person> {
  const client = createClient({ baseUrl: url, token })
  const [folder, configDir] = [join(home, "work"), join(home, "config")]
  mkdirSync(folder, { recursive: true })
  mkdirSync(join(home, "tmp"))
  const { id, username } = await client.getMe().catch(() => ({ id: "none", username: "nobody" }))
  if (isSignedIn) {
    mkdirSync(configDir)
    writeFileSync(
      join(configDir, "servers.json"),
      JSON.stringify({
        current: "test",
        servers: { test: { url, token, user: { id, username } } },
      }),
    )
  }
  const toStart = (args: readonly string[], { env = {}, cwd = folder, input }: CallOptions) => ({
    args,
    env: {
      ...cleanEnv(),
      HOME: home,
      TMPDIR: join(home, "tmp"),
      HAMLET_CONFIG_DIR: configDir,
      ...env,
    },
    cwd,
    input,
  })
  const hamlet: Person["hamlet"] = (args, options = {}) => {
    const call = toStart(args, options)
    const shared = needsProcess(call) ? undefined : callProgram(manyCalls, call)
    return shared ?? startInPipe(hamletPath, call).ended()
  }
  const print: Person["print"] = async (args, options) => {
    const { exit, stdout, stderr } = await hamlet(args, options)
    if (exit !== 0)
      throw new Error(`hamlet ${args.join(" ")} ended with ${exit}: ${stderr}${stdout}`)
    return stdout
  }
  return {
    username,
    token,
    client,
    folder,
    configDir,
    hamlet,
    print,
    json: async (args, options) =>
      (await print([...args, "--json"], options))
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    start: (args, options = {}) => startInPipe(hamletPath, toStart(args, options)),
    atTerminal: (args, options = {}) => startAtTerminal(hamletPath, toStart(args, options)),
  }
}
