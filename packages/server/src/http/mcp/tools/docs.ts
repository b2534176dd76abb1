import { z } from "zod"
import { toTextPage } from "../text-pages.ts"
import { defineTool, ToolError, toolLimits } from "../tool.ts"

/** The documentation. Every token may read it. */
export const docTools = [
  defineTool({
    name: "read_docs",
    title: "Read the documentation",
    description:
      "Returns a page of the documentation as Markdown. vals: how to write a val; std: the standard library (blob, sqlite, email, openai); sqlite, blobs, schedules, mail, webhooks, runs, egress, compatibility, errors. Without a page it lists all pages.",
    scopes: [],
    effect: "read",
    input: z.object({
      page: z.string().max(100).optional().describe("The name of the page, such as vals or std"),
      fromLine: z.int().min(1).default(1).describe("The first line to return"),
    }),
    output: z.object({
      page: z.string().nullable(),
      text: z.string().describe("Markdown"),
      nextLine: z.int().nullable().describe("Pass it as fromLine; null at the end"),
    }),
    async run({ docs }, { page = null, fromLine }) {
      const pages = await docs.list()
      if (page === null) {
        const lines = pages.map(({ name, title }) => `- ${name}: ${title}`)
        return { data: { page, text: lines.join("\n"), nextLine: null } }
      }
      const name = page.replace(/\.md$/, "")
      const found = pages.find((it) => it.name === name)
      if (!found)
        throw new ToolError(
          `Cannot find the page "${page}": there are ${pages.map((it) => it.name).join(", ")}`,
        )
      const part = toTextPage(
        found.text,
        fromLine,
        Number.MAX_SAFE_INTEGER,
        toolLimits.textCharsMax,
      )
      const { text, nextLine } = part
      return { data: { page: name, text, nextLine }, text }
    },
  }),
]
