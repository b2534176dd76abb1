import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findVal, toFullName, type Val } from "../../names/find-val.ts"
import { toAgo } from "../../terminal/ago.ts"

interface ShowOptions {
  readonly val: string
  readonly code?: true
  readonly readme?: true
}

export const command = defineCommand<ShowOptions>({
  description: "On a terminal, also prints the code.",
  examples: [
    ["hamlet val show hello", "show a val"],
    ["hamlet val show ada/hello@3 --code > hello.ts", "save the code of a version"],
    ["hamlet val show http://ada-hello.localhost:8080/", "show the val at this URL"],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "name of the val")
      .option("-c, --code", "print only the code")
      .option("-r, --readme", "print only the readme"),
  run: showVal,
})

async function showVal({ connect, output }: Context, options: ShowOptions): Promise<void> {
  const { val } = await findVal(await connect(), options.val)
  if (output.mode === "json") return output.json(val)
  if (options.code) return output.text(val.code)
  if (options.readme) return output.text(getReadme(val))
  output.record(val, toFields(val))
  if (output.mode === "human") output.text(`\n${val.code}${val.code.endsWith("\n") ? "" : "\n"}`)
}

function getReadme(val: Val): string {
  if (val.readme === null)
    throw new CliError("notFound", `Cannot show the readme of ${toFullName(val)}: it has none`)
  return val.readme
}

function toFields(val: Val) {
  const now = Date.now()
  return [
    ["val", toFullName(val)],
    ["version", val.version],
    ["type", val.type],
    ["privacy", val.privacy],
    ["likes", val.likeCount],
    ["references", val.referenceCount],
    ["forks", val.forkCount],
    ["fork of", val.forkedFrom && `${toFullName(val.forkedFrom)}@${val.forkedFrom.version}`],
    ["created", val.createdAt, toAgo(val.createdAt, now)],
    ["updated", val.updatedAt, toAgo(val.updatedAt, now)],
    ["ran", val.runStartAt, val.runStartAt === null ? "" : toAgo(val.runStartAt, now)],
    ["page", val.url],
    ["module", val.links.module],
    ["endpoint", val.links.endpoint ?? null],
    ["id", val.id],
  ] as const
}
