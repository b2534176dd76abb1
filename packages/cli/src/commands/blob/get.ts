import { createWriteStream } from "node:fs"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { findStorage, ofVal } from "../../names/find-storage.ts"
import { writeBytes } from "../../streams.ts"

export const command = defineCommand({
  description: "Writes to standard output if you name no file.",
  examples: [
    ["hamlet blob get notes.txt", "print a blob"],
    ["hamlet blob get photos/cat.jpg --output cat.jpg", "save it to a file"],
  ],
  takes: {
    "<key>": "key of the blob",
    "-o, --output <file>": "file to write",
    "--force": "overwrite an existing file",
    ...ofVal,
  },
  async run({ connect, output }, { key, output: path, force, val }) {
    const storage = await findStorage(await connect(), val)
    const { body } = await storage.getBlob({ key })
    const content = Readable.from(body ?? [])
    if (path === undefined) {
      for await (const chunk of content) await writeBytes(chunk)
      return
    }
    try {
      await pipeline(content, createWriteStream(path, { flags: force ? "w" : "wx" }))
    } catch (cause) {
      const exists = (cause as NodeJS.ErrnoException).code === "EEXIST"
      throw new CliError(
        exists ? "conflict" : "failed",
        `Cannot write "${path}": ${exists ? "the file exists" : (cause as Error).message}`,
        {
          cause,
          ...(exists && { advice: 'use "--force" to overwrite it' }),
        },
      )
    }
    output.print({
      json: { key, file: path },
      plain: path,
      human: `Wrote ${key} to "${output.toVisible(path)}"`,
    })
  },
})
