import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { checkServer } from "../doctor/check-server.ts"
import { type Finding, isFinding, showFinding, toExit } from "../doctor/finding.ts"
import { runServerProgram } from "../servers/server-program.ts"

export const command = defineCommand({
  description: `Checks what a server on this machine needs (isolation, limits, disk, database, key, port), and the
server you are signed in to. Changes nothing, and can run next to a running server. Pass the flags and
the environment that you start the server with. Exits with 0 when all is well, 10 on warnings and 1 on
failures.`,
  examples: [
    ["hamlet doctor", "check this machine and the current server"],
    [
      "hamlet doctor --data-dir /var/lib/hamlet --port 9000",
      "check a server started with these flags",
    ],
    ["hamlet doctor --only server --json", "check only the server, one JSON object per check"],
  ],
  takes: {
    "[flags...]": "server flags, as for serve",
    "--only <part>": {
      help: "check only this machine, or only the server",
      choices: ["machine", "server"],
    },
  },
  allowsUnknownOptions: true,
  async run(context, { flags, only }) {
    const { output, connect } = context
    const findings: Finding[] = []
    const show = (finding: Finding) => {
      findings.push(finding)
      showFinding(output, finding)
    }
    if (only !== "server") await examineMachine(context, flags, show)
    if (only !== "machine") for (const finding of await checkServer(connect)) show(finding)
    return toExit(findings)
  },
})

async function examineMachine(
  context: Context,
  flags: readonly string[],
  show: (finding: Finding) => void,
): Promise<void> {
  let count = 0
  const { code, stderr } = await runServerProgram(
    context,
    ["doctor", "--json", ...flags],
    (line) => {
      if (!isFinding(line)) return
      count += 1
      show(line)
    },
  )
  if (count === 0 || stderr !== "")
    throw new CliError(
      "failed",
      `Cannot check this machine: the server program exited with ${code}`,
      {
        advice: stderr.trim() || undefined,
      },
    )
}
