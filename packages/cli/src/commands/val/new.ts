import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { parseFile } from "../../files/front-matter.ts"
import { readText } from "../../files/val-file.ts"
import { type Draft, readDraft, saveDraft } from "../../terminal/edit-text.ts"
import { readInput } from "../../terminal/read-input.ts"
import { settingOptions, toSaved, type ValType } from "../../vals.ts"

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
    const draft = await readCode(context, options)
    await saveDraft(context, draft.edited, async () => {
      if (draft.edited && draft.text.trim() === "")
        throw new CliError("failed", "No val created: the code is empty")
      const { front, code } = parseFile(draft.text, draft.source)
      const val = await client.createVal({
        code,
        name: options.name ?? front.name,
        privacy: options.privacy ?? front.privacy,
        type: options.type ?? front.type,
        readme,
      })
      context.output.print(toSaved(val, "Created"))
    })
  },
})

interface CodeOptions {
  readonly file: string | undefined
  readonly name: string | undefined
  readonly type: ValType | undefined
}

async function readCode(context: Context, { file, name, type }: CodeOptions): Promise<Draft> {
  if (file === "-") return { text: await readInput(), source: "standard input" }
  if (file !== undefined) return { text: readText(file), source: file }
  return readDraft(context, templates[type ?? "script"], `${name ?? "val"}.tsx`)
}

const templates: Readonly<Record<ValType, string>> = {
  script: 'export default function (name = "world") {\n  return `Hello ${name}`\n}\n',
  http: "export default function (request: Request): Response {\n  return new Response(`Hello from ${request.url}`)\n}\n",
  interval: 'export default async function () {\n  console.log("on time")\n}\n',
  email:
    "export default async function (email: { from: string; subject: string; text: string }) {\n  console.log(email.subject)\n}\n",
}
