import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"

interface PreviewOptions {
  readonly val: string
}

export const command = defineCommand<PreviewOptions>({
  description: `For a private val the address is a key: for an hour, it lets in whoever has it, to this val alone. Others have an address that does not end. The val
has to be of type http.`,
  examples: [
    ["hamlet val preview hello", "an address to look at it"],
    ["curl $(hamlet val preview hello)", "what it answers, though it is private"],
  ],
  configure: (command: Command) => command.argument("<val>", "its name"),
  run: previewVal,
})

async function previewVal({ connect, output }: Context, { val }: PreviewOptions): Promise<void> {
  const connection = await connect()
  const { id } = await findWholeVal(connection, val)
  const preview = await connection.client.createPreview({ val_id: id })
  output.print({ json: preview, plain: preview.url, human: preview.url })
  if (output.mode === "human" && preview.expiresAt !== null)
    output.note(`It opens the val to whoever has it, until ${preview.expiresAt}`)
}
