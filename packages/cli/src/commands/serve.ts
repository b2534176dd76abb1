import { spawn } from "node:child_process"
import { constants } from "node:os"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import { assertServerProgram, serverPath } from "../servers/server-program.ts"

export const command = defineCommand({
  description: `Every setting in docs/configuration.md is a flag and an environment variable: --data-dir is HAMLET_DATA_DIR.
Everything after "serve" is passed to the server.`,
  examples: [
    ["hamlet serve", "listen on http://localhost:8080, data in ./data"],
    ["hamlet serve --port 9000 --data-dir /var/lib/hamlet", "another port and data folder"],
  ],
  takes: { "[flags...]": "server flags" },
  isPassThrough: true,
  async run(_context, { flags }) {
    assertServerProgram()
    // The server stops when this IPC channel closes, even if this process is killed.
    const child = spawn(process.execPath, [serverPath, "serve", ...flags], {
      stdio: ["inherit", "inherit", "inherit", "ipc"],
    })
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.removeAllListeners(signal)
      // A terminal sends Ctrl-C to every foreground process. The server treats repeated SIGTERM as
      // one, but not repeated SIGINT.
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
  },
})
