import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { parseFile } from "../../files/front-matter.ts"
import { readText } from "../../files/val-file.ts"
import { editText } from "../../terminal/edit-text.ts"
import { readInput } from "../../terminal/read-input.ts"
import {
  addSettingOptions,
  toSaved,
  toSettings,
  type ValSettings,
  type ValType,
} from "../../vals.ts"

interface NewOptions extends ValSettings {
  readonly name: string | undefined
  readonly file?: string
  readonly readme?: string
}

interface Source {
  readonly text: string
  /** What to call it in an error. */
  readonly name: string
  /** What is done when the val is saved, or when it could not be. */
  readonly done?: (isSaved: boolean) => void
}

export const command = defineCommand<NewOptions>({
  description: `The code comes from a file, from standard input, or from your editor. Without a name one is made up. Vals are private and of
the type script where nothing else is said, on the command line or in the first line of the file.`,
  examples: [
    ["hamlet val new hello", "write it in your editor"],
    ["hamlet val new hello --type http --privacy public -f hello.ts", "from a file"],
    ["echo 'export default () => 42' | hamlet val new answer", "from standard input"],
  ],
  configure: (command: Command) =>
    addSettingOptions(
      command
        .argument("[name]", "what to call it")
        .option("-f, --file <file>", 'where the code is, "-" for standard input')
        .option("--readme <file>", "where its readme is"),
    ),
  run: createVal,
})

async function createVal(context: Context, options: NewOptions): Promise<void> {
  const { client } = await context.connect()
  const readme = options.readme === undefined ? undefined : readText(options.readme)
  const source = await readSource(context, options)
  let isSaved = false
  try {
    const { front, code } = parseFile(source.text, source.name)
    const name = options.name ?? front.name
    const settings = { ...toSettings(front), ...toSettings(options) }
    const val = await client.createVal({
      code,
      ...settings,
      ...(name !== undefined && { name }),
      ...(readme !== undefined && { readme }),
    })
    isSaved = true
    context.output.print(toSaved(val, "Made"))
  } finally {
    source.done?.(isSaved)
  }
}

async function readSource(context: Context, { file, name, type }: NewOptions): Promise<Source> {
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
    throw new CliError("failed", "Nothing was made: there is no code")
  }
  return {
    text,
    name: path,
    done: (isSaved) =>
      isSaved ? discard() : context.output.note(`What you wrote is in "${path}"`),
  }
}

const templates: Readonly<Record<ValType, string>> = {
  script: 'export default function (name = "world") {\n  return `Hello ${name}`\n}\n',
  http: "export default function (request: Request): Response {\n  return new Response(`Hello from ${request.url}`)\n}\n",
  interval: 'export default async function () {\n  console.log("on time")\n}\n',
  email:
    "export default async function (email: { from: string; subject: string; text: string }) {\n  console.log(email.subject)\n}\n",
}
