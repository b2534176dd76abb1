import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { constants } from "node:os"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { CliError } from "../cli-error.ts"
import type { Context, Env } from "../context.ts"

/** The path of the server program. This package does not import the server. */
export const serverPath = fileURLToPath(new URL("../../../server/src/main.ts", import.meta.url))

/** Throws if the server is not installed: the command line can be installed alone. */
export function assertServerProgram(): void {
  if (existsSync(serverPath)) return
  throw new CliError("failed", "Cannot run this command: the server is not installed here", {
    advice: "run it in a clone of Hamlet",
  })
}

const errorCharsMax = 10_000

/** The result of a command of the server program. */
export interface ServerProgramEnd {
  readonly code: number
  readonly stderr: string
}

/**
 * Runs a command of the server program and calls `onLine` with each JSON line. Signals are
 * forwarded once: the program runs in its own process group, because a terminal would send it
 * Ctrl-C too, and a second signal skips its clean-up.
 */
export async function runServerProgram(
  { env, interruption }: Pick<Context, "env" | "interruption">,
  args: readonly string[],
  onLine: (line: unknown) => void,
): Promise<ServerProgramEnd> {
  assertServerProgram()
  const child = spawn(process.execPath, [serverPath, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: toServerEnv(env),
    detached: true,
  })
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", (cause) =>
      reject(
        new CliError("failed", `Cannot start the server program: ${cause.message}`, { cause }),
      ),
    )
    child.once("close", (code, signal) =>
      resolve(code ?? 128 + constants.signals[signal ?? "SIGTERM"]),
    )
  })
  const leave = interruption.onEnd(() => {
    child.kill("SIGTERM")
    return ended
  })
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-errorCharsMax)
  })
  createInterface({ input: child.stdout }).on("line", (line) => onLine(parse(line)))
  try {
    return { code: await ended, stderr }
  } finally {
    leave()
  }
}

/**
 * Together with HAMLET_URL, HAMLET_TOKEN is a token of the command line, not the server setting of
 * that name.
 */
function toServerEnv(env: Env): Record<string, string | undefined> {
  return env.HAMLET_URL ? { ...env, HAMLET_TOKEN: undefined } : { ...env }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
