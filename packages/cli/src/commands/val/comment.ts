import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { findWholeVal, toFullName } from "../../names/find-val.ts"
import { type Draft, readDraft, saveDraft } from "../../terminal/edit-text.ts"

export const command = defineCommand({
  description: `The comment is Markdown: the words after the name, or else standard input or your editor. --undo deletes
a comment that you wrote, or that is on one of your vals.`,
  examples: [
    ["hamlet val comment ada/hello That is neat", "comment on a val"],
    ["hamlet val comment ada/hello < review.md", "read the comment from a file"],
    [
      "hamlet val comment hello --undo 0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
      'delete a comment (see "hamlet val comments")',
    ],
  ],
  takes: {
    "<val>": "name of the val",
    "[words...]": "text of the comment",
    "--undo <id>": "delete the comment with this id",
  },
  async run(context, { val: text, words, undo }) {
    const { output } = context
    const connection = await context.connect()
    const { client } = connection
    const val = await findWholeVal(connection, text)
    const name = toFullName(val)
    if (undo !== undefined) {
      await client.deleteComment({ comment_id: undo })
      output.print({
        json: { id: undo, deleted: true },
        plain: undo,
        human: `Deleted a comment on ${name}`,
      })
      return
    }
    const draft: Pick<Draft, "text" | "edited"> =
      words.length > 0
        ? { text: words.join(" ") }
        : await readDraft(context, "", `${name.replace("/", "-")}.md`)
    await saveDraft(context, draft.edited, async () => {
      const comment = await client.createComment({ val_id: val.id, comment: toComment(draft.text) })
      output.print({ json: comment, plain: comment.id, human: `Commented on ${name}` })
    })
  },
})

function toComment(text: string): string {
  const comment = text.trim()
  if (comment !== "") return comment
  throw new CliError("usage", "Cannot comment: the text is empty")
}
