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
    "For a user who has lost theirs. It may do everything but administer, unless scopes are named. It is shown this once.",
  examples: [
    ["hamlet user token grace", "a token to hand over"],
    ["hamlet user token grace --scope admin val:read --name operator", "one that administers"],
  ],
  configure: (command: Command) =>
    command
      .argument("<user>", "their name or id")
      .option("--name <name>", "what it is called")
      .addOption(new Option("-s, --scope <scope...>", "what it may do").choices(scopes))
      .option("--expires <time>", "when it stops working: 12h, 30d or a date", toFutureMoment),
  run: createToken,
})

async function createToken(
  { connect, output }: Context,
  { user, name, scope, expires }: TokenOptions,
): Promise<void> {
  const connection = await connect()
  const { id, username } = await findUser(connection, user)
  const wanted = {
    ...(name !== undefined && { name }),
    ...(scope && { scopes: scope }),
    ...(expires && { expiresAt: expires }),
  }
  const made = await connection.client.createUserToken({ user_id: id, ...wanted })
  output.print({ json: made, plain: made.token, human: made.token })
  if (output.mode === "human") output.note(`That is a token of ${username}. It is shown only now`)
}
