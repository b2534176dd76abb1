import type { Client } from "@hamlet/contract/client"
import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal, toFullName, type Val } from "../../names/find-val.ts"
import { editText } from "../../terminal/edit-text.ts"
import { addSettingOptions, toSaved, toSettings, type ValSettings } from "../../vals.ts"

interface EditOptions extends ValSettings {
  readonly val: string
  readonly readme?: true
}

export const command = defineCommand<EditOptions>({
  description: `Your editor is $VISUAL, or else $EDITOR. If somebody saves the val meanwhile, nothing of theirs or yours is lost: what you wrote
stays in a file. With --privacy or --type only that is changed.`,
  examples: [
    ["hamlet val edit hello", "its code"],
    ["hamlet val edit hello --readme", "its readme"],
    ["hamlet val edit hello --privacy public", "let everybody see it"],
  ],
  configure: (command: Command) =>
    addSettingOptions(
      command
        .argument("<val>", "its name")
        .option("-r, --readme", "its readme instead of its code"),
    ),
  run: editVal,
})

async function editVal(context: Context, options: EditOptions): Promise<void> {
  const connection = await context.connect()
  const val = await findWholeVal(connection, options.val)
  const settings = toSettings(options)
  if (Object.keys(settings).length === 0)
    return options.readme
      ? editReadme(context, connection.client, val)
      : editCode(context, connection.client, val)
  await connection.client.updateVal({ val_id: val.id, ...settings })
  context.output.print(toSaved(await connection.client.getVal({ val_id: val.id }), "Changed"))
}

async function editCode(context: Context, client: Client, val: Val): Promise<void> {
  await editAndSave(
    context,
    { text: val.code, fileName: `${val.name}.tsx`, what: toFullName(val) },
    async (code) => {
      context.output.print(
        toSaved(
          await client.createVersion({ val_id: val.id, code }, { ifMatch: val.version }),
          "Saved",
        ),
      )
    },
  )
}

async function editReadme(context: Context, client: Client, val: Val): Promise<void> {
  const what = `the readme of ${toFullName(val)}`
  await editAndSave(
    context,
    { text: val.readme ?? "", fileName: `${val.name}.md`, what },
    async (readme) => {
      await client.updateVal({ val_id: val.id, readme: readme === "" ? null : readme })
      context.output.print(
        toSaved(await client.getVal({ val_id: val.id }), "Changed the readme of"),
      )
    },
  )
}

/** The file goes only when what is in it has been saved, or is what was there before. */
async function editAndSave(
  context: Context,
  {
    text,
    fileName,
    what,
  }: { readonly text: string; readonly fileName: string; readonly what: string },
  save: (text: string) => Promise<void>,
): Promise<void> {
  const edited = await editText(context, text, fileName)
  if (edited.text === text) {
    edited.discard()
    throw new CliError("failed", `Nothing was changed in ${what}`)
  }
  try {
    await save(edited.text)
  } catch (error) {
    context.output.note(`What you wrote is in "${edited.path}"`)
    throw error
  }
  edited.discard()
}
