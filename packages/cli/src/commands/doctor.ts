import { type Command, Option } from "commander"
import { CliError } from "../cli-error.ts"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { checkServer } from "../doctor/check-server.ts"
import { type Finding, isFinding, showFinding, toExit } from "../doctor/finding.ts"
import type { ExitName } from "../exit-codes.ts"
import { runServerProgram } from "../servers/server-program.ts"

interface DoctorOptions {
  readonly flags: readonly string[]
  readonly only?: "machine" | "server"
}

export const command = defineCommand<DoctorOptions>({
  description: `Looks at what a server on this machine needs (isolation, limits, disk, database, key, port) and at the server that you are signed
in to. Nothing is changed, and a server may run meanwhile. Give it the flags and the environment that you start the server with. It ends
with 0 when all is well, with 10 when there are warnings, and with 1 when something does not work.`,
  examples: [
    [
      "hamlet doctor",
      "this machine with the settings of the environment, and the server that commands go to",
    ],
    [
      "hamlet doctor --data-dir /var/lib/hamlet --port 9000",
      "for a server that is started with these flags",
    ],
    ["hamlet doctor --only server --json", "only the server, one object for each check"],
  ],
  configure: (command: Command) =>
    command
      .argument("[flags...]", "settings of the server, as for serve")
      .allowUnknownOption()
      .addOption(
        new Option("--only <part>", "look at one of the two only").choices(["machine", "server"]),
      ),
  run: examine,
})

async function examine(context: Context, { flags, only }: DoctorOptions): Promise<ExitName> {
  const { output, connect } = context
  const findings: Finding[] = []
  const show = (finding: Finding) => {
    findings.push(finding)
    showFinding(output, finding)
  }
  if (only !== "server") await examineMachine(context, flags, show)
  if (only !== "machine") for (const finding of await checkServer(connect)) show(finding)
  return toExit(findings)
}

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
      `Cannot look at this machine: the server's program ended with ${code}`,
      {
        advice: stderr.trim() || undefined,
      },
    )
}
