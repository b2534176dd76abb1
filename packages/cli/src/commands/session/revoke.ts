import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface RevokeOptions {
  readonly id: string | undefined
  readonly all?: true
}

export const command = defineCommand<RevokeOptions>({
  description: "--all also revokes unused sign-in links.",
  examples: [
    ["hamlet session revoke 01890000-0000-7000-8000-000000000000", "sign out one browser"],
    ["hamlet session revoke --all", "sign out everywhere"],
  ],
  configure: (command: Command) =>
    command
      .argument("[id]", 'id of the session (see "hamlet session list")')
      .option("--all", "sign out all browsers"),
  run: revokeSession,
})

async function revokeSession(
  { connect, output }: Context,
  { id, all }: RevokeOptions,
): Promise<void> {
  if ((id === undefined) !== (all === true))
    throw new CliError("usage", "Cannot sign out: pass either the id of a session or --all", {
      advice: 'see "hamlet session list"',
    })
  const { client } = await connect()
  if (id === undefined) await client.deleteAllSessions()
  else await client.deleteSession({ session_id: id })
  output.print({
    json: { id: id ?? null, revoked: true },
    plain: id ?? "all",
    human: id === undefined ? "Signed out everywhere" : `Signed out ${id}`,
  })
}
