import { spawn } from "node:child_process"

/** What Deno, started as a tool, had to say. */
export interface DenoResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** How the Deno of a tool starts another. */
export interface DenoSetup {
  readonly deno: string
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const outputCharsMax = 64 * 1024 ** 2

/**
 * Starts Deno and waits for its end. What it says beyond the limit is left out, and with it the
 * sense of it.
 */
export function runDeno(
  { deno, cwd, env }: DenoSetup,
  args: readonly string[],
): Promise<DenoResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(deno, args, { cwd, env: { ...env }, stdio: ["ignore", "pipe", "pipe"] })
    const said = { stdout: "", stderr: "" }
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("utf8")
      child[name].on("data", (text: string) => {
        if (said[name].length + text.length <= outputCharsMax) said[name] += text
      })
    }
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, ...said }))
  })
}
