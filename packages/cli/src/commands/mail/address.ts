import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"

interface AddressOptions {
  readonly val: string
}

export const command = defineCommand<AddressOptions>({
  description:
    "Mail to this address runs the val. The val must be of type email, and the server must receive mail.",
  examples: [["hamlet mail address inbox", "print the address"]],
  configure: (command: Command) => command.argument("<val>", "name of the val"),
  run: printAddress,
})

async function printAddress({ connect, output }: Context, { val: name }: AddressOptions) {
  const val = await findWholeVal(await connect(), name)
  const { emailAddress } = val
  if (emailAddress === undefined)
    throw new CliError(
      "failed",
      val.type === "email"
        ? `Cannot find the address of val "${val.name}": the server receives no mail`
        : `Cannot find the address of val "${val.name}": it is of type ${val.type}, not email`,
    )
  output.print({ json: { emailAddress }, plain: emailAddress, human: emailAddress })
}
