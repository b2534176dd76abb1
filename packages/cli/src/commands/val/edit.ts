import type { Client, Input } from "@hamlet/contract/client"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { isVersionConflict } from "../../failure.ts"
import { findWholeVal, toFullName, type Val } from "../../names/find-val.ts"
import { editText, saveDraft } from "../../terminal/edit-text.ts"
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
    context.output.print(toSaved(await changeSettings(client, val, { privacy, type }), "Changed"))
  },
})

type Changes = Pick<Input<"updateVal">, "privacy" | "type" | "readme">

/** How often the settings are tried again while others save the val. */
const attemptsMax = 5

/** Settings do not depend on the version that they are changed in. */
async function changeSettings(client: Client, val: Val, changes: Changes): Promise<Val> {
  let current = val
  for (let attempt = 1; ; attempt++) {
    try {
      return await change(client, current, changes)
    } catch (error) {
      if (!isVersionConflict(error) || attempt === attemptsMax) throw error
    }
    current = await client.getVal({ val_id: val.id })
  }
}

/** The val as this save has made it: the current version may be that of a save after it. */
async function change(client: Client, { id, code, version }: Val, changes: Changes): Promise<Val> {
  const ifMatch = { ifMatch: version }
  if (code !== "") return client.createVersion({ val_id: id, code, ...changes }, ifMatch)
  // A val without code takes no version with code, and the response has no version.
  await client.updateVal({ val_id: id, ...changes }, ifMatch)
  return client.getVal({ val_id: id })
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
      const changed = await change(client, val, { readme: readme === "" ? null : readme })
      context.output.print(toSaved(changed, "Changed the readme of"))
    },
  )
}

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
  await saveDraft(context, edited, () => save(edited.text))
}
