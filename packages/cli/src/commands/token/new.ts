import type { Input } from "@hamlet/contract/client"
import { type Command, Option } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { scopes } from "../../contract-copies.ts"
import { toFutureMoment } from "../../runs/since.ts"

interface NewOptions {
  readonly name: string
  readonly scope: Input<"createToken">["scopes"]
  readonly expires?: Date
}

export const command = defineCommand<NewOptions>({
  description:
    "Prints the token once. It can have only scopes of the token you are signed in with.",
  examples: [
    ["hamlet token new reader --scope val:read run:read", "a read-only token"],
    ["hamlet token new ci --scope val:write --expires 30d", "a token that expires"],
    [
      "hamlet token new laptop --scope val:read | ssh laptop hamlet login URL",
      "sign in elsewhere without showing the token",
    ],
  ],
  configure: (command: Command) =>
    command
      .argument("<name>", "name of the token")
      .addOption(
        new Option("-s, --scope <scope...>", "scopes of the token")
          .choices(scopes)
          .makeOptionMandatory(),
      )
      .option("--expires <time>", "when it expires: 12h, 30d or a date", toFutureMoment),
  run: createToken,
})

async function createToken(
  { connect, output }: Context,
  { name, scope, expires }: NewOptions,
): Promise<void> {
  const { client } = await connect()
  const created = await client.createToken({
    name,
    scopes: scope,
    ...(expires && { expiresAt: expires }),
  })
  output.print({ json: created, plain: created.token, human: created.token })
  if (output.mode === "human") output.note("Save the token now: it will not be shown again")
}
