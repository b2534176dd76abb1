/** A call of a program: its arguments, its whole environment and the folder that it is in. */
export interface ProgramCall {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

/** What the program wrote, and how it ended. */
export interface ProgramEnd {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** Processes that answer calls, by the file of their program. */
const answering = new Map<string, CalledProgram>()

/**
 * Calls a program of `answerCalls` and waits for the end of the call. Calls one after the other share
 * a process: loading a program takes most of the time of a short one. Undefined while it is busy with
 * another call, which needs a process of its own then.
 */
export function callProgram(file: string, call: ProgramCall): Promise<ProgramEnd> | undefined {
  const program = answering.get(file) ?? new CalledProgram(file)
  answering.set(file, program)
  return program.call(call)
}

/** Ends the processes of all programs that were called. */
export async function endPrograms(): Promise<void> {
  const ended = [...answering.values()].map((program) => program.end())
  answering.clear()
  await Promise.all(ended)
}

class CalledProgram {
  readonly #child: Bun.Subprocess
  #running: PromiseWithResolvers<ProgramEnd> | undefined

  constructor(file: string) {
    this.#child = Bun.spawn([process.execPath, file], {
      stdin: "ignore",
      stdout: "inherit",
      stderr: "inherit",
      ipc: (ended) => this.#running?.resolve(ended),
      onExit: (_child, exit) =>
        this.#running?.reject(new Error(`${file} ended with ${exit} during a call`)),
    })
  }

  call(call: ProgramCall): Promise<ProgramEnd> | undefined {
    if (this.#running) return undefined
    this.#running = Promise.withResolvers<ProgramEnd>()
    this.#child.send(call)
    return this.#running.promise.finally(() => {
      this.#running = undefined
    })
  }

  async end(): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.#child.exited
  }
}

/** Thrown where the program would end. */
class ProgramExit extends Error {
  constructor(readonly code: number) {
    super(`the program ended with ${code}`)
  }
}

/**
 * Makes this process answer calls: it runs a program for each, with the environment and the folder of
 * the call, collects what the program writes to its streams, and goes on where it would exit.
 */
export function answerCalls(run: (args: readonly string[]) => Promise<number>): void {
  const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  for (const name of ["stdout", "stderr"] as const)
    process[name].write = (chunk: string | Uint8Array, ...more: unknown[]) => {
      written[name].push(Buffer.from(chunk as string))
      const onWritten = more.at(-1)
      if (typeof onWritten === "function") queueMicrotask(() => onWritten())
      return true
    }
  process.exit = (code) => {
    throw new ProgramExit(Number(code ?? 0))
  }
  const toText = (chunks: Buffer[]) => Buffer.concat(chunks.splice(0)).toString()
  process.on("message", async ({ args, env, cwd }: ProgramCall) => {
    for (const name of Object.keys(process.env)) delete process.env[name]
    Object.assign(process.env, env)
    process.chdir(cwd)
    const exit = await run(args).catch((error: unknown) => {
      if (error instanceof ProgramExit) return error.code
      process.stderr.write(`${Bun.inspect(error)}\n`)
      return 1
    })
    const [stdout, stderr] = [toText(written.stdout), toText(written.stderr)]
    process.send?.({ exit, stdout, stderr } satisfies ProgramEnd)
  })
}
