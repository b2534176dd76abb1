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
  description: `What answers at its own address, or else its page. Your browser is $BROWSER, or what the system opens addresses with. In a pipe, and with
--print, the address is printed and nothing is opened.`,
  examples: [
    ["hamlet val open hello", "see what it answers"],
    ["hamlet val open hello --page", "see its code and versions"],
    ["curl $(hamlet val open hello)", "its address, for another program"],
  ],
  configure: (command: Command) =>
    command
      .argument("<val>", "its name")
      .option("--page", "its page, though it has an address of its own")
      .option("--module", "the address to import it from")
      .option("-p, --print", "print the address only"),
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
    throw new CliError(
      "failed",
      `Cannot open ${toFullName(val)}: there is no program "${program}"`,
      {
        advice: `its address is ${url}, and BROWSER chooses a program`,
      },
    )
}

function toAddress({ url, links }: Val, { page, module }: OpenOptions): string {
  if (module) return links.module
  return page ? url : (links.endpoint ?? url)
}
