import type { Command } from "commander"
import { defineCommand } from "../../../command.ts"
import type { Context } from "../../../context.ts"
import { findWholeVal, toFullName } from "../../../names/find-val.ts"

interface LikeOptions {
  readonly val: string
  readonly undo?: true
}

export const command = defineCommand<LikeOptions>({
  examples: [
    ["hamlet val like ada/hello", "like a val"],
    ["hamlet val like ada/hello --undo", "remove your like"],
  ],
  configure: (command: Command) =>
    command.argument("<val>", "name of the val").option("--undo", "remove your like"),
  run: likeVal,
})

async function likeVal(
  { connect, output }: Context,
  { val: text, undo }: LikeOptions,
): Promise<void> {
  const connection = await connect()
  const { client } = connection
  const { id } = await findWholeVal(connection, text)
  await (undo ? client.unlikeVal({ val_id: id }) : client.likeVal({ val_id: id }))
  const val = await client.getVal({ val_id: id })
  const name = toFullName(val)
  output.print({
    json: val,
    plain: name,
    human: undo ? `You no longer like ${name}` : `You like ${name}`,
  })
}
