import { join } from "node:path"
import { onEnd } from "./scratch.ts"

const root = join(import.meta.dir, "..", "..")

/** For a program to end by itself: when we end too, and when there is time. */
const endMs = 500
const stopMs = 10_000

/** A program that runs beside us and has said where it listens. */
export interface Program {
  readonly url: string
  readonly pid: number
  /** From the start of the process to the line that says where it listens. */
  readonly startMs: number
  stop(): Promise<void>
}

/** Where a server keeps its data, and what is not to be at its default. */
export interface ServerData {
  readonly dataDir: string
  readonly databaseUrl?: string | undefined
  readonly settings?: Readonly<Record<string, string>>
}

/**
 * The real server, as `npm start` runs it: everything but the port, the place of the data and the
 * given settings is at its default.
 */
export function startServer({ dataDir, databaseUrl, settings }: ServerData): Promise<Program> {
  const place = {
    HAMLET_DATA_DIR: dataDir,
    ...(databaseUrl === undefined ? {} : { HAMLET_DATABASE_URL: databaseUrl }),
  }
  const command = [process.execPath, "packages/server/src/main.ts", "serve", "--port", "0"]
  return startProgram(command, { env: { ...place, ...settings }, log: join(dataDir, "server.log") })
}

/** One of the bare programs that the server is compared with. */
export function startBare(file: string, env: Readonly<Record<string, string>>): Promise<Program> {
  return startProgram([process.execPath, join("bench", file)], { env, log: "/dev/null" })
}

interface Start {
  readonly env: Readonly<Record<string, string>>
  /** The file for what it writes to standard error. */
  readonly log: string
  /** Makes the address from what it has written to standard output so far, or nothing. */
  toUrl?(output: string): string | undefined
}

/** Starts a program and waits until it has said where it listens. */
export async function startProgram(
  command: readonly string[],
  { env, log, toUrl = toSaidUrl }: Start,
): Promise<Program> {
  const began = performance.now()
  const child = Bun.spawn([...command], {
    cwd: root,
    env: { ...plainEnvironment(), ...env },
    stdout: "pipe",
    stderr: Bun.file(log),
  })
  // Not SIGKILL: a program that has processes of its own is to end them. The second one is for a
  // program that does not listen.
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
      if ((await Promise.race([child.exited, Bun.sleep(stopMs)])) === undefined)
        child.kill("SIGKILL")
      await child.exited
      kill()
    },
  }
}

/** Nothing that the person who measures has set for a server of their own. */
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

/** What every program of this repository says. */
function toSaidUrl(output: string): string | undefined {
  return /listens at (http:\S+)\n/.exec(output)?.[1]
}
