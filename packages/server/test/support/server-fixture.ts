import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Database } from "@hamlet/database"
import { RuntimeFolder } from "@hamlet/sandbox"
import { callProgram } from "../../../../scripts/testing/program-calls.ts"
import { migratedFile, type OpenDatabase, openAgain } from "./databases.ts"
import { HamletProcess, ownEnv } from "./processes/hamlet-process.ts"

/** A token that the operator has set. */
export const chosenToken = "chosen-by-the-operator-0123456789-abcdef"

const manyCommands = new URL("./processes/many-commands.ts", import.meta.url).pathname

/** How long the sandboxes of a server that was killed may take to end. */
const sandboxEndMsMax = 60_000

/** What a command has printed, and how it ended. */
export interface CommandEnd {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** An environment for the real program: a data folder and an empty database of its own. */
export interface ServerFixture extends AsyncDisposable {
  /** Absent where the database is a file. */
  readonly url: string | undefined
  readonly dataDir: string
  /** The environment in which the program finds its database. */
  readonly env: Readonly<Record<string, string>>
  /** Starts the program, or that of another release; `env` comes on top. */
  start(
    args?: readonly string[],
    env?: Readonly<Record<string, string>>,
    program?: string,
  ): HamletProcess
  /**
   * Runs a command that ends by itself, in a process that other commands have had before. One that
   * the process has to be started for, as with a launcher, has a process of its own.
   */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandEnd>
  /**
   * Starts a server whose first user has the chosen token, and waits until it is up. Its database has
   * the current schema already; `start` is for a server that has to create it.
   */
  serve(
    env?: Readonly<Record<string, string>>,
    program?: string,
  ): Promise<{ readonly hamlet: HamletProcess; readonly baseUrl: string }>
  /** Another connection to the database of the program. */
  connect(): Promise<Database>
}

/**
 * Opens a fixture. Disposing of it ends every process that it started; `prefix` or `launcher` is
 * what starts them. A database on a server has the current schema already, since creating it takes
 * longer than most tests; `openEmpty` is for a server that has to create it.
 */
export async function openServerFixture(
  open?: OpenDatabase,
  prefix: readonly string[] = [],
  launcher?: readonly string[],
): Promise<ServerFixture> {
  const database = await open?.()
  const url = database?.url
  const folder = await mkdtemp(join(tmpdir(), "hamlet-process-"))
  const dataDir = join(folder, "data")
  const processes: HamletProcess[] = []
  const place = {
    HAMLET_DATA_DIR: dataDir,
    HAMLET_PORT: "0",
    HAMLET_USER: "ada",
    // Fewer connections than usual: the tests share one PostgreSQL.
    HAMLET_DATABASE_CONNECTIONS_MAX: "4",
    // Most tests run no val, or one: processes that are ready and not used only cost CPU time.
    HAMLET_PROCESSES_READY: "0",
    HAMLET_PROCESSES_READY_MAX: "0",
    HAMLET_PROCESS_WAIT_SECONDS_MAX: "60",
    HAMLET_SQLITE_SECONDS_MAX: "60",
    // Tests compare all that a server prints, and a busy machine is slow.
    HAMLET_SLOW_REQUEST_MS: "none",
    HAMLET_SLOW_STATEMENT_MS: "none",
  }
  const env: Record<string, string> =
    url === undefined ? place : { ...place, HAMLET_DATABASE_URL: url }
  const start: ServerFixture["start"] = (args = ["serve"], more = {}, program) => {
    const started = new HamletProcess({
      args,
      program,
      prefix,
      launcher,
      env: { ...env, ...more },
      cwd: folder,
    })
    processes.push(started)
    return started
  }
  return {
    url,
    dataDir,
    env,
    start,
    async run(args, more = {}) {
      const call = { args, env: { ...ownEnv(), ...env, ...more }, cwd: folder }
      const called = prefix.length > 0 || launcher ? undefined : callProgram(manyCommands, call)
      if (!called) return await start(args, more).ended()
      const { exit: exitCode, ...printed } = await called
      return { exitCode, ...printed }
    },
    async serve(more = {}, program) {
      if (url === undefined) await writeDatabase(dataDir)
      const hamlet = start(["serve"], { HAMLET_TOKEN: chosenToken, ...more }, program)
      return { hamlet, baseUrl: await hamlet.listening() }
    },
    connect: () =>
      openAgain(url === undefined ? { url, path: join(dataDir, "hamlet.db") } : { url }),
    async [Symbol.asyncDispose]() {
      const ended = await Promise.all(processes.map((started) => started.stop()))
      if (ended.some(({ wasKilled }) => wasKilled)) await sweep(dataDir)
      await database?.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Opens databases without a schema. */
export function openEmpty(open: OpenDatabase): OpenDatabase {
  return () => open({ isEmpty: true })
}

/** Creates a data folder with an empty database, as the server would, unless there is one. */
async function writeDatabase(dataDir: string): Promise<void> {
  const content = await migratedFile()
  if (existsSync(dataDir)) return
  mkdirSync(dataDir, { mode: 0o700 })
  writeFileSync(join(dataDir, "hamlet.db"), content, { mode: 0o600 })
}

/** Cleans up after a killed server, as the next server would: ends its sandboxes. */
async function sweep(dataDir: string): Promise<void> {
  const folder = await RuntimeFolder.create(dataDir, sandboxEndMsMax)
  folder.stop()
}
