// A program that runs many command lines one after the other, each with an environment and a folder
// of its own. Tests that only look at what a call prints use it: loading the program takes most of
// the time of a call.
import { exitCodes } from "../../src/exit-codes.ts"
import { watchInterruption } from "../../src/interruption.ts"
import { runCommandLine } from "../../src/run-command-line.ts"
import { openStreams } from "../../src/streams.ts"
import type { Call } from "./call.ts"
import type { Ended } from "./processes.ts"

/** Thrown where the program would end. */
class Exit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`)
  }
}

const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
for (const name of ["stdout", "stderr"] as const)
  process[name].write = (chunk: string | Uint8Array, ...more: unknown[]) => {
    written[name].push(Buffer.from(chunk as string))
    const isWritten = more.at(-1)
    if (typeof isWritten === "function") queueMicrotask(() => isWritten())
    return true
  }
process.exit = (code) => {
  throw new Exit(Number(code ?? 0))
}
const streams = openStreams()
const interruption = watchInterruption()

process.on("message", async ({ args, env, cwd }: Call) => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  const exit = await run(args)
  const [stdout = "", stderr = ""] = [written.stdout, written.stderr].map((chunks) =>
    Buffer.concat(chunks.splice(0)).toString(),
  )
  process.send?.({ exit, stdout, stderr } satisfies Ended)
})

async function run(args: readonly string[]): Promise<number> {
  try {
    const exit = await runCommandLine(args, { streams, interruption })
    await streams.flush()
    return exitCodes[exit].exit
  } catch (error) {
    if (error instanceof Exit) return error.code
    process.stderr.write(Bun.inspect(error))
    return 1
  }
}
