import type { Command } from "commander"
import { CliError } from "../../../cli-error.ts"
import { defineCommand } from "../../../command.ts"
import type { Context } from "../../../context.ts"
import { findWholeVal, toFullName } from "../../../names/find-val.ts"
import { editText } from "../../../terminal/edit-text.ts"
import { readInput } from "../../../terminal/read-input.ts"

interface CommentOptions {
  readonly val: string
  readonly words: readonly string[]
  readonly undo?: string
}

export const command = defineCommand<CommentOptions>({
  description: `In Markdown. The text is what follows the name, or comes from standard input or your editor. --undo deletes a comment: one of yours,
or one on a val of yours.`,
  examples: [
    ["hamlet val comment ada/hello That is neat", "say something about it"],
    ["hamlet val comment ada/hello < review.md", "something longer"],
    [
      "hamlet val comment hello --undo 0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
      'take one back, by the id that "hamlet val comments" shows',
    ],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "its name")
      .argument("[words...]", "what to say")
      .option("--undo <id>", "delete a comment"),
  run: commentOnVal,
})

async function commentOnVal(
  context: Context,
  { val: text, words, undo }: CommentOptions,
): Promise<void> {
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
  const written = await readWords(context, words, name)
  let isSaved = false
  try {
    const comment = await client.createComment({ val_id: val.id, comment: toComment(written.text) })
    isSaved = true
    output.print({ json: comment, plain: comment.id, human: `Commented on ${name}` })
  } finally {
    written.done?.(isSaved)
  }
}

interface Written {
  readonly text: string
  /** What is done when the server has it, or has not. */
  readonly done?: (isSaved: boolean) => void
}

async function readWords(
  context: Context,
  words: readonly string[],
  name: string,
): Promise<Written> {
  if (words.length > 0) return { text: words.join(" ") }
  if (!process.stdin.isTTY) return { text: await readInput() }
  const { text, path, discard } = await editText(context, "", `${name.replace("/", "-")}.md`)
  const isKept = text.trim() !== ""
  return {
    text,
    done: (isSaved) =>
      isSaved || !isKept ? discard() : context.output.note(`What you wrote is in "${path}"`),
  }
}

function toComment(text: string): string {
  const comment = text.trim()
  if (comment !== "") return comment
  throw new CliError("usage", "Nothing was said: the comment is empty")
}
