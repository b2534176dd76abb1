import type { Input } from "@hamlet/contract/client"
import { type Command, Option } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { eventTypes } from "../../contract-copies.ts"
import { findWholeVal } from "../../names/find-val.ts"

interface AddOptions {
  readonly target: string
  readonly event: Input<"createWebhook">["events"]
  readonly val?: string
  readonly description?: string
}

export const command = defineCommand<AddOptions>({
  description: `Events are sent to a URL, or start runs of one of your vals. Prints the secret once: receivers verify
signatures with it.`,
  examples: [
    [
      "hamlet webhook add https://example.com/hook --event run.failed",
      "be told when a val of yours fails",
    ],
    [
      "hamlet webhook add onSave --event val.saved val.deleted --val hello",
      "run the val onSave when the val hello changes",
    ],
  ],
  configure: (command: Command) =>
    command
      .argument("<target>", "URL, or the name of a val of yours")
      .addOption(
        new Option("-e, --event <event...>", "events to send")
          .choices(eventTypes)
          .makeOptionMandatory(),
      )
      .option("--val <val>", "only events of this val")
      .option("--description <text>", "what it is for"),
  run: addWebhook,
})

async function addWebhook(
  { connect, output }: Context,
  { target, event, val, description }: AddOptions,
): Promise<void> {
  const connection = await connect()
  const isUrl = /^https?:\/\//i.test(target)
  if (!isUrl && target.includes("://"))
    throw new CliError(
      "usage",
      `Cannot add a webhook to "${target}": its URL must be http or https`,
    )
  const created = await connection.client.createWebhook({
    ...(isUrl ? { url: target } : { targetValId: (await findWholeVal(connection, target)).id }),
    events: event,
    ...(val !== undefined && { valId: (await findWholeVal(connection, val)).id }),
    ...(description !== undefined && { description }),
  })
  output.record(created, [
    ["webhook", created.id],
    ["secret", created.secret],
  ])
  if (output.mode === "human") output.note("Save the secret now: it will not be shown again")
}
