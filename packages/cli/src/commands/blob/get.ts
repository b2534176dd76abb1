import { defineCommand } from "../../command.ts"
import { readDownload } from "../../files/read-download.ts"
import { openWholeFile } from "../../files/whole-file.ts"
import { findStorage, ofVal } from "../../names/find-storage.ts"
import { writeBytes } from "../../streams.ts"

export const command = defineCommand({
  description:
    "Writes to standard output if you name no file. A file exists complete or not at all.",
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
  async run(context, { key, output: path, force = false, val }) {
    const { connect, output } = context
    const storage = await findStorage(await connect(), val)
    const download = async function* () {
      yield* readDownload(await storage.getBlob({ key }), `get the blob "${output.toVisible(key)}"`)
    }
    if (path === undefined || path === "-") {
      for await (const chunk of download()) await writeBytes(chunk)
      return
    }
    await using file = await openWholeFile(context, path, force)
    for await (const chunk of download()) await file.write(chunk)
    await file.commit()
    output.print({
      json: { key, file: path },
      plain: path,
      human: `Wrote ${key} to "${output.toVisible(path)}"`,
    })
  },
})
