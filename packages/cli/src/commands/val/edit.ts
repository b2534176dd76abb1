import type { Client } from "@hamlet/contract/client"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal, toFullName, type Val } from "../../names/find-val.ts"
import { editText } from "../../terminal/edit-text.ts"
import { settingOptions, toSaved } from "../../vals.ts"

export const command = defineCommand({
  description: `Opens $VISUAL or $EDITOR. If the val changes while you edit, nothing is overwritten and your text stays in
a file. With --privacy or --type, changes only that setting.`,
  examples: [
    ["hamlet val edit hello", "edit the code"],
    ["hamlet val edit hello --readme", "edit the readme"],
    ["hamlet val edit hello --privacy public", "make it public"],
  ],
  takes: {
    "<val>": "name of the val",
    "-r, --readme": "edit the readme instead of the code",
    ...settingOptions,
  },
  async run(context, { val: text, readme, privacy, type }) {
    const connection = await context.connect()
    const { client } = connection
    const val = await findWholeVal(connection, text)
    if (privacy === undefined && type === undefined)
      return readme ? editReadme(context, client, val) : editCode(context, client, val)
    await client.updateVal({ val_id: val.id, privacy, type })
    context.output.print(toSaved(await client.getVal({ val_id: val.id }), "Changed"))
  },
})

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

/** Deletes the file only when its text is saved or unchanged. */
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
    throw new CliError("failed", `No changes to ${what}`)
  }
  try {
    await save(edited.text)
  } catch (error) {
    context.output.note(`Your text is in "${edited.path}"`)
    throw error
  }
  edited.discard()
}
