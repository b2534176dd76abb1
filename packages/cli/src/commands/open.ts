import type { Command } from "commander"
import { defineCommand } from "../command.ts"
import type { Context } from "../context.ts"
import { openInBrowser } from "../terminal/open-in-browser.ts"

interface OpenOptions {
  readonly print?: true
}

export const command = defineCommand<OpenOptions>({
  description: `Signs your browser in as you are signed in here, by a link that works once within 15 minutes. Your browser is $BROWSER, or what the system
opens addresses with. In a pipe, with --print, and where there is no browser, the link is printed and nothing is opened.`,
  examples: [
    ["hamlet open", "go to the web app"],
    ["hamlet open --print", "a link for a browser on another machine"],
  ],
  configure: (command: Command) => command.option("-p, --print", "print the link only"),
  run: openApp,
})

async function openApp({ connect, output, env }: Context, { print }: OpenOptions): Promise<void> {
  const { client, server } = await connect()
  const link = await client.createSignInLink()
  const printLink = () => output.print({ json: link, plain: link.url, human: link.url })
  if (output.mode !== "human" || print) return printLink()
  // Not the link: what a terminal shows is seen by others, and kept.
  output.note(`Opening ${server.url}`)
  const { program, isOpened } = await openInBrowser(env, link.url)
  if (isOpened) return
  output.note(
    `There is no program "${program}" to open it with; this link signs a browser in once, within 15 minutes:`,
  )
  printLink()
}
