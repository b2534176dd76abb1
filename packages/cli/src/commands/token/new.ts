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
    "The token is shown this once. It can do no more than the one that you are signed in with.",
  examples: [
    ["hamlet token new reader --scope val:read run:read", "a token that only reads"],
    ["hamlet token new ci --scope val:write --expires 30d", "one that ends by itself"],
    [
      "hamlet token new laptop --scope val:read | ssh laptop hamlet login URL",
      "without anybody seeing it",
    ],
  ],
  configure: (command: Command) =>
    command
      .argument("<name>", "what you call it")
      .addOption(
        new Option("-s, --scope <scope...>", "what it may do")
          .choices(scopes)
          .makeOptionMandatory(),
      )
      .option("--expires <time>", "when it stops working: 12h, 30d or a date", toFutureMoment),
  run: createToken,
})

async function createToken(
  { connect, output }: Context,
  { name, scope, expires }: NewOptions,
): Promise<void> {
  const { client } = await connect()
  const made = await client.createToken({
    name,
    scopes: scope,
    ...(expires && { expiresAt: expires }),
  })
  output.print({ json: made, plain: made.token, human: made.token })
  if (output.mode === "human") output.note("It is shown only now: keep it")
}
