import { basename } from "node:path"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { startRun, waitForRun } from "../../runs/wait-for-run.ts"
import { readInput, readNamedFile } from "../../terminal/read-input.ts"

export const command = defineCommand({
  description: `Runs a val of type email as if a mail had come; it must be your own. No mail is sent, and the server need not
receive mail. Logs go to standard error while the val runs, its return value goes to standard output, and
the exit code tells how the run ended. With --raw, the mail is a file with a whole message.`,
  examples: [
    ["hamlet mail test inbox --subject Hello --text 'How are you?'", "send a short mail"],
    ["hamlet mail test inbox --attach invoice.pdf", "send a mail with a file"],
    ["hamlet mail test inbox --raw message.eml", 'send a saved mail; "-" reads standard input'],
  ],
  takes: {
    "<val>": "name of the val",
    "--from <address>": "sender; without it, your own address",
    "--subject <text>": "subject",
    "--text <text>": "text",
    "--html <html>": "text as HTML",
    "--attach <files...>": "files to attach",
    "--raw <file>": "whole message, instead of the other options",
    "-d, --detach": "print the id of the run instead of waiting for it",
  },
  async run(context, { val, detach, attach, raw, from, subject, text, html }) {
    const connection = await context.connect()
    const mail = await toMail({ from, subject, text, html }, attach, raw)
    const { id } = await findWholeVal(connection, val)
    const start = () => connection.client.sendTestEmail({ val_id: id, ...mail })
    return detach ? startRun(context, start) : waitForRun(context, connection, start)
  },
})

type Fields = Readonly<Record<"from" | "subject" | "text" | "html", string | undefined>>

async function toMail(
  fields: Fields,
  attach: readonly string[] | undefined,
  raw: string | undefined,
) {
  if (raw === undefined)
    return { ...fields, attachments: attach && (await Promise.all(attach.map(toAttachment))) }
  if (attach || Object.values(fields).some((field) => field !== undefined))
    throw new CliError("usage", "Cannot combine --raw with other parts of a mail: it has them all")
  return { raw: raw === "-" ? await readInput() : (await readNamedFile(raw)).toString() }
}

async function toAttachment(path: string) {
  return { filename: basename(path), content: (await readNamedFile(path)).toString("base64") }
}
