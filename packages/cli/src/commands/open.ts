import { defineCommand } from "../command.ts"
import { openInBrowser } from "../terminal/open-in-browser.ts"

export const command = defineCommand({
  description: `Signs your browser in with a link that works once, for 15 minutes. Opens $BROWSER, or the system's default
browser. In a pipe, with --print or without a browser, prints the link instead.`,
  examples: [
    ["hamlet open", "open the web app"],
    ["hamlet open --print", "print a link for a browser on another machine"],
  ],
  takes: { "-p, --print": "print the link instead of opening it" },
  async run({ connect, output, env }, { print }) {
    const { client, server } = await connect()
    const link = await client.createSignInLink()
    const printLink = () => output.print({ json: link, plain: link.url, human: link.url })
    if (output.mode !== "human" || print) return printLink()
    // The link is not printed: terminal output may be seen and recorded.
    output.note(`Opening ${server.url}`)
    const { program, isOpened } = await openInBrowser(env, link.url)
    if (isOpened) return
    output.note(
      `Cannot find "${program}" to open a browser. This link signs a browser in once, within 15 minutes:`,
    )
    printLink()
  },
})
