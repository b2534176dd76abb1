import type { Input } from "@hamlet/contract/client"
import { type Command, Option } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { scopes } from "../../contract-copies.ts"
import { findUser } from "../../names/find-user.ts"
import { toFutureMoment } from "../../runs/since.ts"

interface TokenOptions {
  readonly user: string
  readonly name?: string
  readonly scope?: Input<"createToken">["scopes"]
  readonly expires?: Date
}

export const command = defineCommand<TokenOptions>({
  description:
    "For a user who lost their token. Without --scope it has all scopes except those for administration. Prints the token once.",
  examples: [
    ["hamlet user token grace", "create a token for a user"],
    [
      "hamlet user token grace --scope admin val:read --name operator",
      "create an administrator's token",
    ],
  ],
  configure: (command: Command) =>
    command
      .argument("<user>", "username or id")
      .option("--name <name>", "name of the token")
      .addOption(new Option("-s, --scope <scope...>", "scopes of the token").choices(scopes))
      .option("--expires <time>", "when it expires: 12h, 30d or a date", toFutureMoment),
  run: createToken,
})

async function createToken(
  { connect, output }: Context,
  { user, name, scope, expires }: TokenOptions,
): Promise<void> {
  const connection = await connect()
  const { id, username } = await findUser(connection, user)
  const fields = {
    ...(name !== undefined && { name }),
    ...(scope && { scopes: scope }),
    ...(expires && { expiresAt: expires }),
  }
  const created = await connection.client.createUserToken({ user_id: id, ...fields })
  output.print({ json: created, plain: created.token, human: created.token })
  if (output.mode === "human")
    output.note(`This is a token of ${username}. It will not be shown again`)
}
