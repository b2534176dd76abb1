import { join } from "node:path"
import { onEnd } from "./scratch.ts"

const root = join(import.meta.dir, "..", "..")

/** A program that runs beside us and has said where it listens. */
export interface Program {
  readonly url: string
  readonly pid: number
  /** From the start of the process to the line that says where it listens. */
  readonly startMs: number
  stop(): Promise<void>
}

/** The real server, as `npm start` runs it: everything but the port and the place of the data is at its default. */
export function startServer(data: { readonly dataDir: string; readonly databaseUrl?: string | undefined }): Promise<Program> {
  const place = { HAMLET_DATA_DIR: data.dataDir, ...(data.databaseUrl === undefined ? {} : { HAMLET_DATABASE_URL: data.databaseUrl }) }
  return startProgram(["packages/server/src/main.ts", "serve", "--port", "0"], place, join(data.dataDir, "server.log"))
}

/** One of the bare programs that the server is compared with. */
export function startBare(file: string, env: Readonly<Record<string, string>>): Promise<Program> {
  return startProgram([join("bench", file)], env, "/dev/null")
}

/** Starts a program of this repository and waits for a line with its address. Its standard error goes into a file. */
async function startProgram(args: readonly string[], env: Readonly<Record<string, string>>, log: string): Promise<Program> {
  const began = performance.now()
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    env: { ...plainEnvironment(), ...env },
    stdout: "pipe",
    stderr: Bun.file(log),
  })
  const kill = onEnd(() => child.kill("SIGKILL"))
  const url = await findUrl(child.stdout)
  if (url === undefined) throw new Error(`Cannot start ${args.join(" ")}: it ended with ${await child.exited}, see ${log}`)
  const startMs = performance.now() - began
  return {
    url,
    pid: child.pid,
    startMs,
    async stop() {
      child.kill("SIGTERM")
      await child.exited
      kill()
    },
  }
}

/** Nothing that the person who measures has set for a server of their own. */
function plainEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HAMLET_")))
}

async function findUrl(output: ReadableStream<Uint8Array>): Promise<string | undefined> {
  const decoder = new TextDecoder()
  let text = ""
  const reader = output.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    text += decoder.decode(value, { stream: true })
    const url = /listens at (http:\S+)\n/.exec(text)?.[1]
    if (url !== undefined || done) return url
  }
}
