import { fileURLToPath } from "node:url"
import { type Ended, hamletPath, type StartOptions, startInPipe } from "./processes.ts"

/** What the program of many calls is sent. */
export type Call = Pick<StartOptions, "args" | "env" | "cwd">

const program = fileURLToPath(new URL("./many-calls.ts", import.meta.url))
/** Commands that end with their input, are another program, or end a download by their own end. */
const ownCommands = ["backup", "mcp", "serve"]
/** Read when a process starts, or meant for programs that it starts. */
const ownVariables = ["BROWSER", "EDITOR", "TZ", "VISUAL"]

/** The program, and the call that it runs. */
let child: Bun.Subprocess | undefined
let running: PromiseWithResolvers<Ended> | undefined

/**
 * Calls `hamlet` in a pipe and waits for its end. Calls one after the other share a process; one that
 * comes while another runs, or that reads its input, has a process of its own.
 */
export async function call(options: StartOptions): Promise<Ended> {
  if (running || needsProcess(options)) return startInPipe(hamletPath, options).ended()
  running = Promise.withResolvers<Ended>()
  child ??= Bun.spawn([process.execPath, program], {
    env: options.env,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
    ipc: (ended) => running?.resolve(ended),
    onExit: (_child, exit) =>
      running?.reject(new Error(`the program of many calls ended with ${exit}`)),
  })
  const { args, env, cwd } = options
  child.send({ args, env, cwd } satisfies Call)
  try {
    return await running.promise
  } finally {
    running = undefined
  }
}

function needsProcess({ args, env, input }: StartOptions): boolean {
  return (
    input !== undefined ||
    ownCommands.includes(args[0] ?? "") ||
    ownVariables.some((name) => name in env)
  )
}

/** Ends the program, if a suite has called it. */
export async function endCalls(): Promise<void> {
  child?.kill()
  await child?.exited
  child = undefined
}
