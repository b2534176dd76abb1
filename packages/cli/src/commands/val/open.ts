import { spawn } from "node:child_process"
import type { Command } from "commander"
import { CliError } from "../../cli-error.ts"
import { defineCommand } from "../../command.ts"
import type { Context, Env } from "../../context.ts"
import { findWholeVal, toFullName, type Val } from "../../names/find-val.ts"

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
  takes: (command: Command) =>
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
  if (output.mode !== "human" || options.print) return output.tell({ json: { url }, plain: url, human: url })
  output.note(`Opening ${url}`)
  await openInBrowser(env, url, toFullName(val))
}

function toAddress({ url, links }: Val, { page, module }: OpenOptions): string {
  if (module) return links.module
  return page ? url : (links.endpoint ?? url)
}

async function openInBrowser(env: Env, url: string, name: string): Promise<void> {
  const program = env.BROWSER || (process.platform === "darwin" ? "open" : "xdg-open")
  const isOpened = await new Promise<boolean>((resolve) => {
    const child = spawn(program, [url], { stdio: "ignore", detached: true })
    child.once("error", () => resolve(false))
    // Whether it stays in front or hands the address on to one that is open already is up to the browser.
    child.once("spawn", () => resolve(true))
    child.unref()
  })
  if (!isOpened)
    throw new CliError("failed", `Cannot open ${name}: there is no program "${program}"`, {
      advice: `its address is ${url}, and BROWSER chooses a program`,
    })
}
