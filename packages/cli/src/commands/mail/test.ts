import { readFile } from "node:fs/promises"
import { basename } from "node:path"
import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import type { ExitName } from "../../exit-codes.ts"
import { findWholeVal } from "../../names/find-val.ts"
import { waitForRun } from "../../runs/wait-for-run.ts"
import { readInput } from "../../terminal/read-input.ts"

interface TestOptions {
  readonly val: string
  readonly from?: string
  readonly subject?: string
  readonly text?: string
  readonly html?: string
  readonly attach?: readonly string[]
  readonly raw?: string
  readonly detach?: true
}

export const command = defineCommand<TestOptions>({
  description: `Runs a val of type email as if a mail had come; it must be your own. No mail is sent, and the server need not
receive mail. Logs go to standard error while the val runs, its return value goes to standard output, and
the exit code tells how the run ended. With --raw, the mail is a file with a whole message.`,
  examples: [
    ["hamlet mail test inbox --subject Hello --text 'How are you?'", "send a short mail"],
    ["hamlet mail test inbox --attach invoice.pdf", "send a mail with a file"],
    ["hamlet mail test inbox --raw message.eml", 'send a saved mail; "-" reads standard input'],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "name of the val")
      .option("--from <address>", "sender; without it, your own address")
      .option("--subject <text>", "subject")
      .option("--text <text>", "text")
      .option("--html <html>", "text as HTML")
      .option("--attach <files...>", "files to attach")
      .option("--raw <file>", "whole message, instead of the other options")
      .option("-d, --detach", "print the id of the run instead of waiting for it"),
  run: testMail,
})

async function testMail(context: Context, options: TestOptions): Promise<ExitName | undefined> {
  const { val: name, detach } = options
  const connection = await context.connect()
  const mail = await toMail(options)
  const { id } = await findWholeVal(connection, name)
  const start = () => connection.client.sendTestEmail({ val_id: id, ...mail })
  if (!detach) return waitForRun(context, connection, start)
  const run = await start()
  context.output.print({
    json: run,
    plain: run.id,
    human: `Started run ${run.id}; follow it with "hamlet run logs -f ${run.id}"`,
  })
  return undefined
}

async function toMail(options: TestOptions) {
  // The options of all commands are among them too.
  const { attach, raw, from, subject, text, html } = options
  const fields = Object.entries({ from, subject, text, html }).filter(
    ([, value]) => value !== undefined,
  )
  if (raw === undefined)
    return {
      ...(Object.fromEntries(fields) as Pick<TestOptions, "from" | "subject" | "text" | "html">),
      ...(attach && { attachments: await Promise.all(attach.map(toAttachment)) }),
    }
  if (attach || fields.length > 0)
    throw new CliError("usage", "Cannot combine --raw with other parts of a mail: it has them all")
  return { raw: raw === "-" ? await readInput() : (await read(raw)).toString() }
}

async function toAttachment(path: string) {
  return { filename: basename(path), content: (await read(path)).toString("base64") }
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path)
  } catch (error) {
    throw new CliError(
      "usage",
      `Cannot read "${path}": ${error instanceof Error ? error.message : error}`,
    )
  }
}
