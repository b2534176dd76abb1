import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { parseFile } from "../../files/front-matter.ts"
import { readText } from "../../files/val-file.ts"
import { editText } from "../../terminal/edit-text.ts"
import { readInput } from "../../terminal/read-input.ts"
import { settingOptions, toSaved, type ValType } from "../../vals.ts"

interface Source {
  readonly text: string
  /** How error messages name it. */
  readonly name: string
  /** Called when the val is saved, or could not be. */
  readonly done?: (isSaved: boolean) => void
}

export const command = defineCommand({
  description: `Reads the code from a file, from standard input or from your editor. A name is generated if you pass none.
Vals are private scripts unless options or the first line of the file say otherwise.`,
  examples: [
    ["hamlet val new hello", "write the code in your editor"],
    ["hamlet val new hello --type http --privacy public -f hello.ts", "read the code from a file"],
    ["echo 'export default () => 42' | hamlet val new answer", "read the code from standard input"],
  ],
  takes: {
    "[name]": "name of the val",
    "-f, --file <file>": 'file with the code, or "-" for standard input',
    "--readme <file>": "file with the readme",
    ...settingOptions,
  },
  async run(context, options) {
    const { client } = await context.connect()
    const readme = options.readme === undefined ? undefined : readText(options.readme)
    const source = await readSource(context, options)
    let isSaved = false
    try {
      const { front, code } = parseFile(source.text, source.name)
      const val = await client.createVal({
        code,
        name: options.name ?? front.name,
        privacy: options.privacy ?? front.privacy,
        type: options.type ?? front.type,
        readme,
      })
      isSaved = true
      context.output.print(toSaved(val, "Created"))
    } finally {
      source.done?.(isSaved)
    }
  },
})

interface SourceOptions {
  readonly file: string | undefined
  readonly name: string | undefined
  readonly type: ValType | undefined
}

async function readSource(context: Context, { file, name, type }: SourceOptions): Promise<Source> {
  if (file !== undefined && file !== "-") return { text: readText(file), name: file }
  if (file === "-" || !process.stdin.isTTY)
    return { text: await readInput(), name: "standard input" }
  const { text, path, discard } = await editText(
    context,
    templates[type ?? "script"],
    `${name ?? "val"}.tsx`,
  )
  if (text.trim() === "") {
    discard()
    throw new CliError("failed", "No val created: the code is empty")
  }
  return {
    text,
    name: path,
    done: (isSaved) => (isSaved ? discard() : context.output.note(`Your text is in "${path}"`)),
  }
}

const templates: Readonly<Record<ValType, string>> = {
  script: 'export default function (name = "world") {\n  return `Hello ${name}`\n}\n',
  http: "export default function (request: Request): Response {\n  return new Response(`Hello from ${request.url}`)\n}\n",
  interval: 'export default async function () {\n  console.log("on time")\n}\n',
  email:
    "export default async function (email: { from: string; subject: string; text: string }) {\n  console.log(email.subject)\n}\n",
}
