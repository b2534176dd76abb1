import { fileURLToPath } from "node:url"

/** The real program, as a user would call it. */
export const hamletPath = fileURLToPath(new URL("../../bin/hamlet", import.meta.url))

/**
 * Removes the settings of the person who runs the tests; the marker that finds left-over processes
 * stays.
 */
export function cleanEnv(): Record<string, string> {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(HAMLET_|XDG_|VISUAL|EDITOR|BROWSER|NO_COLOR|FORCE_COLOR|COLUMNS)/.test(name),
  )
  const marker = process.env.HAMLET_TEST_RUN
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    ...(marker && { HAMLET_TEST_RUN: marker }),
  }
}

/** What a program wrote, and how it ended. */
export interface Ended {
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

/** A program whose output can be waited for. */
export interface Started extends AsyncDisposable {
  readonly pid: number
  /** Waits for something to be printed; fails when the program ends without it. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>
  /** Types something, at a terminal. */
  type(text: string): void
  signal(signal: NodeJS.Signals): void
  ended(): Promise<Ended>
}

/** How a program is started. */
export interface StartOptions {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  readonly input?: string | undefined
  /** Not ended when it takes long. */
  readonly isLasting?: true
}

/** Longer than any test goes on: a program that hangs must not outlive its test for long. */
const msMax = 240_000

/** Starts a program in a pipe. */
export function startInPipe(
  command: string,
  { args, env, cwd, input, isLasting }: StartOptions,
): Started {
  const child = Bun.spawn([command, ...args], {
    cwd,
    env,
    stdin: input === undefined ? "ignore" : Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  })
  const screen = createScreen()
  const reading = Promise.all([
    screen.read(child.stdout, "stdout"),
    screen.read(child.stderr, "stderr"),
  ])
  return toStarted(child, screen, () => {}, reading, isLasting)
}

/** Starts a program in front of a terminal of its own, a hundred columns wide. */
export function startAtTerminal(command: string, { args, env, cwd }: StartOptions): Started {
  const screen = createScreen()
  const decoder = new TextDecoder()
  // What was printed last may come after the end of the program has been told.
  const { promise: reading, resolve: exit } = Promise.withResolvers<void>()
  const child = Bun.spawn([command, ...args], {
    cwd,
    env: { TERM: "xterm-256color", ...env },
    terminal: {
      cols: 100,
      rows: 30,
      data: (_terminal, data) => screen.add("stdout", decoder.decode(data, { stream: true })),
      exit: () => exit(),
    },
  })
  return toStarted(child, screen, (text) => void child.terminal?.write(text), reading)
}

function createScreen() {
  const texts = { stdout: "", stderr: "" }
  const waiting = new Set<() => void>()
  const add = (stream: keyof typeof texts, text: string) => {
    texts[stream] += text
    for (const wake of waiting) wake()
  }
  return {
    texts,
    waiting,
    add,
    async read(stream: ReadableStream<Uint8Array>, name: keyof typeof texts) {
      const decoder = new TextDecoder()
      for await (const chunk of stream) add(name, decoder.decode(chunk, { stream: true }))
    },
  }
}

function toStarted(
  child: Bun.Subprocess,
  screen: ReturnType<typeof createScreen>,
  type: (text: string) => void,
  reading: Promise<unknown>,
  isLasting = false,
): Started {
  const timer = isLasting ? undefined : setTimeout(() => child.kill("SIGKILL"), msMax)
  const end = child.exited.then(async () => {
    clearTimeout(timer)
    await reading
    child.terminal?.close()
  })
  const all = () => screen.texts.stdout + screen.texts.stderr
  return {
    pid: child.pid,
    type,
    signal: (signal) => child.kill(signal),
    async waitFor(pattern) {
      for (;;) {
        const found = pattern.exec(all())
        if (found) return found
        const { promise, resolve } = Promise.withResolvers<void>()
        screen.waiting.add(resolve)
        const hasEnded = await Promise.race([promise.then(() => false), end.then(() => true)])
        screen.waiting.delete(resolve)
        if (hasEnded && !pattern.test(all()))
          throw new Error(
            `the program ended with ${child.exitCode} and has not printed ${pattern}:\n${all()}`,
          )
      }
    },
    async ended() {
      await end
      return { exit: child.exitCode ?? 128, ...screen.texts }
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL")
      await end
    },
  }
}
