import { spawn } from "node:child_process"
import { constants } from "node:os"
import type { Command } from "commander"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { assertServerProgram, serverPath } from "../servers/server-program.ts"

interface ServeOptions {
  readonly flags: readonly string[]
}

export const command = defineCommand<ServeOptions>({
  description: `Every setting of docs/configuration.md is a flag and a variable: --data-dir is HAMLET_DATA_DIR. What follows "serve" goes
to the server as it is.`,
  examples: [
    ["hamlet serve", "on http://localhost:8080, with its data in ./data"],
    ["hamlet serve --port 9000 --data-dir /var/lib/hamlet", "elsewhere"],
  ],
  configure: (command: Command) =>
    command
      .argument("[flags...]", "settings of the server")
      .allowUnknownOption()
      .passThroughOptions(),
  isPassThrough: true,
  run: serve,
})

/** The server in front of our terminal. It ends as it is told to, and we end as it did. */
async function serve(_context: Context, { flags }: ServeOptions): Promise<undefined> {
  assertServerProgram()
  // The server is told by the channel when we are gone, and stops then.
  const child = spawn(process.execPath, [serverPath, "serve", ...flags], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  })
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.removeAllListeners(signal)
    // A terminal sends Ctrl-C to every program in front of it. The server takes any number of
    // SIGTERM for one, but not of SIGINT.
    process.on(signal, () => child.kill("SIGTERM"))
  }
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", (cause) =>
      reject(new CliError("failed", `Cannot start the server: ${cause.message}`, { cause })),
    )
    child.once("exit", (code, signal) =>
      resolve(code ?? 128 + constants.signals[signal ?? "SIGTERM"]),
    )
  })
  process.exit(code)
}
