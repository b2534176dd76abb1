import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context } from "../../context.ts"
import { findWholeVal, toFullName, type Val } from "../../names/find-val.ts"
import { openInBrowser } from "../../terminal/open-in-browser.ts"

interface OpenOptions {
  readonly val: string
  readonly page?: true
  readonly module?: true
  readonly print?: true
}

export const command = defineCommand<OpenOptions>({
  description: `Opens the endpoint of an HTTP val, or else its page in the web app. Uses $BROWSER, or the system's default
browser. In a pipe or with --print, prints the URL instead.`,
  examples: [
    ["hamlet val open hello", "open its endpoint"],
    ["hamlet val open hello --page", "open its page in the web app"],
    ["curl $(hamlet val open hello)", "pass its URL to another program"],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "name of the val")
      .option("--page", "open its page even if it has an endpoint")
      .option("--module", "open the URL to import it from")
      .option("-p, --print", "print the URL instead of opening it"),
  run: openVal,
})

async function openVal({ connect, output, env }: Context, options: OpenOptions): Promise<void> {
  const val = await findWholeVal(await connect(), options.val)
  const url = toAddress(val, options)
  if (output.mode !== "human" || options.print)
    return output.print({ json: { url }, plain: url, human: url })
  output.note(`Opening ${url}`)
  const { program, isOpened } = await openInBrowser(env, url)
  if (!isOpened)
    throw new CliError("failed", `Cannot open ${toFullName(val)}: cannot find "${program}"`, {
      advice: `its URL is ${url}; set BROWSER to choose a browser`,
    })
}

function toAddress({ url, links }: Val, { page, module }: OpenOptions): string {
  if (module) return links.module
  return page ? url : (links.endpoint ?? url)
}
