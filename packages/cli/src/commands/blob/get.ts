import { createWriteStream } from "node:fs"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"

interface GetOptions {
  readonly key: string
  readonly output?: string
  readonly force?: true
}

export const command = defineCommand<GetOptions>({
  description: "To standard output where no file is named.",
  examples: [
    ["hamlet blob get notes.txt", "read it"],
    ["hamlet blob get photos/cat.jpg --output cat.jpg", "into a file"],
  ],
  configure: (command: Command) =>
    command
      .argument("<key>", "which one")
      .option("-o, --output <file>", "where to write it")
      .option("--force", "replace a file that is there"),
  run: getBlob,
})

async function getBlob(
  { connect, output }: Context,
  { key, output: path, force }: GetOptions,
): Promise<void> {
  const { client } = await connect()
  const { body } = await client.getBlob({ key })
  const content = Readable.from(body ?? [])
  if (path === undefined) {
    for await (const chunk of content)
      await new Promise<void>((resolve) => process.stdout.write(chunk, () => resolve()))
    return
  }
  try {
    await pipeline(content, createWriteStream(path, { flags: force ? "w" : "wx" }))
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === "EEXIST"
    throw new CliError(
      isThere ? "conflict" : "failed",
      `Cannot write "${path}": ${isThere ? "there is a file already" : (cause as Error).message}`,
      {
        cause,
        ...(isThere && { advice: '"--force" replaces it' }),
      },
    )
  }
  output.print({
    json: { key, file: path },
    plain: path,
    human: `Wrote ${key} to "${output.toVisible(path)}"`,
  })
}
