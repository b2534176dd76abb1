import { join } from "node:path"
import { isBrief } from "./brief.ts"
import { onEnd } from "./scratch.ts"

const root = join(import.meta.dir, "..", "..")

/** How long a program may take to end: when we end too, and otherwise. */
const endMs = 500
const stopMs = 60_000

/** A running program that has printed its address. */
export interface Program {
  readonly url: string
  readonly pid: number
  /** From the start of the process to the line with its address. */
  readonly startMs: number
  stop(): Promise<void>
}

/** The data of a server, and settings other than the defaults. */
export interface ServerData {
  readonly dataDir: string
  readonly databaseUrl?: string | undefined
  readonly settings?: Readonly<Record<string, string>>
  /** The only core that the server and its sandboxes may use; without it all. */
  readonly core?: number | undefined
  /** The folder of another version of the server. */
  readonly folder?: string | undefined
  /** A module that is loaded before the server. */
  readonly preload?: string | undefined
}

/**
 * A process that is ready and not used only costs CPU time. On a machine that has much else to do,
 * the start of one takes long.
 */
const onlyTried = {
  HAMLET_PROCESSES_READY: "1",
  HAMLET_PROCESSES_READY_MAX: "1",
  HAMLET_PROCESS_WAIT_SECONDS_MAX: "60",
}

/**
 * The real server, as `npm start` runs it: everything but the port, the location of the data and the
 * given settings has its default.
 */
export function startServer(data: ServerData): Promise<Program> {
  const { dataDir, databaseUrl, settings, core, preload, folder = root } = data
  const location = {
    HAMLET_DATA_DIR: dataDir,
    ...(databaseUrl === undefined ? {} : { HAMLET_DATABASE_URL: databaseUrl }),
  }
  const pinned = core === undefined ? [] : ["taskset", "--cpu-list", String(core)]
  const program = join(folder, "packages/server/src/main.ts")
  const bun = [process.execPath, ...(preload === undefined ? [] : ["--preload", preload])]
  const command = [...pinned, ...bun, program, "serve", "--port", "0"]
  return startProgram(command, {
    env: { ...location, ...(isBrief ? onlyTried : {}), ...settings },
    log: join(dataDir, "server.log"),
  })
}

/** A bare program that the server is compared with. */
export function startBare(file: string, env: Readonly<Record<string, string>>): Promise<Program> {
  return startProgram([process.execPath, join("bench", file)], { env, log: "/dev/null" })
}

interface Start {
  readonly env: Readonly<Record<string, string>>
  /** The file for its standard error. */
  readonly log: string
  /** Finds the address in its standard output so far. */
  toUrl?(output: string): string | undefined
}

/** Starts a program and waits until it has printed its address. */
export async function startProgram(
  command: readonly string[],
  { env, log, toUrl = toPrintedUrl }: Start,
): Promise<Program> {
  const began = performance.now()
  const child = Bun.spawn([...command], {
    cwd: root,
    env: { ...plainEnvironment(), ...env },
    stdout: "pipe",
    stderr: Bun.file(log),
  })
  // SIGTERM first, so that a program can end its own processes. SIGKILL is for a program that does
  // not react.
  const kill = onEnd(() => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill("SIGTERM")
    Bun.sleepSync(endMs)
    child.kill("SIGKILL")
  })
  const url = await findUrl(child.stdout, toUrl)
  if (url === undefined)
    throw new Error(
      `Cannot start ${command.join(" ")}: it ended with ${await child.exited}, see ${log}`,
    )
  const startMs = performance.now() - began
  return {
    url,
    pid: child.pid,
    startMs,
    async stop() {
      child.kill("SIGTERM")
      const killing = setTimeout(() => child.kill("SIGKILL"), stopMs)
      await child.exited
      clearTimeout(killing)
      kill()
    },
  }
}

/** The environment without settings for other servers of the operator. */
function plainEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("HAMLET_")),
  )
}

async function findUrl(
  output: ReadableStream<Uint8Array>,
  toUrl: (output: string) => string | undefined,
): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ""
  const reader = output.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    text += decoder.decode(value, { stream: true })
    const url = toUrl(text)
    if (url !== undefined || done) return url
  }
}

/** The line that every program of this repository prints. */
function toPrintedUrl(output: string): string | undefined {
  return /listens at (http:\S+)\n/.exec(output)?.[1]
}
