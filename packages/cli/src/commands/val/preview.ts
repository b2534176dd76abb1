import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal } from "../../names/find-val.ts"

interface PreviewOptions {
  readonly val: string
}

export const command = defineCommand<PreviewOptions>({
  description: `The preview URL of a private val grants access to that val to anyone who has the URL, for one hour. The URL
of other vals does not expire. The val must be of type http.`,
  examples: [
    ["hamlet val preview hello", "create a preview URL"],
    ["curl $(hamlet val preview hello)", "call a private val"],
  ],
  configure: (command: Command) => command.argument("<val>", "name of the val"),
  run: previewVal,
})

async function previewVal({ connect, output }: Context, { val }: PreviewOptions): Promise<void> {
  const connection = await connect()
  const { id } = await findWholeVal(connection, val)
  const preview = await connection.client.createPreview({ val_id: id })
  output.print({ json: preview, plain: preview.url, human: preview.url })
  if (output.mode === "human" && preview.expiresAt !== null)
    output.note(`Anyone with this URL can open the val until ${preview.expiresAt}`)
}
