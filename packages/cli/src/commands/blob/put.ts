import { readFileSync, statSync } from "node:fs"
import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { limits } from "../../limits.ts"
import { toSize } from "../../terminal/progress-line.ts"
import { readInputBytes } from "../../terminal/read-input.ts"

interface PutOptions {
  readonly key: string
  readonly file: string | undefined
}

export const command = defineCommand<PutOptions>({
  description: "Reads standard input if you name no file. Replaces a blob with the same key.",
  examples: [
    ["hamlet blob put photos/cat.jpg cat.jpg", "upload a file"],
    ["date | hamlet blob put last-backup", "upload the output of a program"],
  ],
  configure: (command: Command) =>
    command.argument("<key>", "key of the blob").argument("[file]", "file to upload"),
  run: putBlob,
})

async function putBlob({ connect, output }: Context, { key, file }: PutOptions): Promise<void> {
  const content = file === undefined ? await readInputBytes(limits.blobBytesMax) : readFile(file)
  const { client } = await connect()
  await client.putBlob({ key, content })
  output.print({
    json: { key, size: content.length },
    plain: key,
    human: `Stored ${key}, ${toSize(content.length)}`,
  })
}

function readFile(path: string): Uint8Array {
  try {
    const { size } = statSync(path)
    if (size > limits.blobBytesMax)
      throw new Error(`it is larger than ${limits.blobBytesMax} bytes`)
    return readFileSync(path)
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT"
    throw new CliError(
      isMissing ? "notFound" : "failed",
      `Cannot read "${path}": ${isMissing ? "the file does not exist" : (cause as Error).message}`,
      {
        cause,
      },
    )
  }
}
