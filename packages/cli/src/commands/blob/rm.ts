import type { Command } from "commander"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { addConfirmOption, type ConfirmOptions, confirm } from "../../terminal/confirm.ts"

interface RmOptions extends ConfirmOptions {
  readonly keys: readonly string[]
}

export const command = defineCommand<RmOptions>({
  examples: [
    ["hamlet blob rm notes.txt", "delete a blob after confirmation"],
    ["hamlet blob rm a.txt b.txt --yes", "delete several without confirmation"],
  ],
  configure: (command: Command) =>
    addConfirmOption(command.argument("<keys...>", "keys of the blobs")),
  run: deleteBlobs,
})

async function deleteBlobs(
  { connect, output }: Context,
  { keys, ...options }: RmOptions,
): Promise<void> {
  const { client } = await connect()
  await confirm(
    keys.length === 1 ? `Delete the blob ${keys[0]}?` : `Delete ${keys.length} blobs?`,
    options,
  )
  for (const key of keys) {
    await client.deleteBlob({ key })
    output.print({ json: { key, deleted: true }, plain: key, human: `Deleted ${key}` })
  }
}
