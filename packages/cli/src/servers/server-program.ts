import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { constants } from "node:os"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { CliError } from "../cli-error.ts"
import type { Context, Env } from "../context.ts"

/** The server's program. By its path: this package knows the server over the wire only. */
export const serverPath = fileURLToPath(new URL("../../../server/src/main.ts", import.meta.url))

/** Refuses where there is no server: the command line can be installed by itself. */
export function assertServerProgram(): void {
  if (existsSync(serverPath)) return
  throw new CliError(
    "failed",
    "Cannot do this here: the command line is installed without the server",
    {
      advice: "use the command in a clone of Hamlet",
    },
  )
}

const errorCharsMax = 10_000

/** How a command of the server ended, and what it said on standard error. */
export interface ServerProgramEnd {
  readonly code: number
  readonly stderr: string
}

/**
 * Runs a command of the server that writes JSON lines, and hands on each. Signals are passed on,
 * once: the program is in a group of its own, since a terminal would send Ctrl-C to it as well, and
 * a second one means that nothing is tidied up.
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
        new CliError("failed", `Cannot start the server's program: ${cause.message}`, { cause }),
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
 * With HAMLET_URL, HAMLET_TOKEN is what somebody signs in with, and not the setting of that name.
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
