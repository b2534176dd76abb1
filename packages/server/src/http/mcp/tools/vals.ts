import { limits, valType } from "@hamlet/contract"
import { z } from "zod"
import { findVal, findValId, valArgument } from "../find-val.ts"
import { toTextPage, truncate } from "../text-pages.ts"
import { defineTool, toolLimits } from "../tool.ts"
import { nextCursor, pageArguments, toNextCursor, toValSummary, valSummary } from "../val-view.ts"

/** A list says what each val is, and a model reads the code of the one that it needs. */
const withoutTexts = { omit: ["code", "readme"] } as const

const summaries = z.object({ vals: z.array(valSummary), nextCursor })

const searchVals = defineTool({
  name: "search_vals",
  title: "Search vals",
  description:
    "Finds public vals, and your own, whose name, description or files contain a text. Use read_val to see the code of one, and read_file to see the file that was found.",
  scopes: ["val:read"],
  effect: "read",
  input: z.object({
    query: z.string().min(1).max(limits.queryCharsMax).describe("The text, exactly as it occurs"),
    ...pageArguments,
  }),
  output: z.object({
    vals: z.array(
      valSummary.extend({
        file: z
          .string()
          .nullable()
          .describe("A file with the text; null if the name or the description has it"),
      }),
    ),
    nextCursor,
  }),
  async run({ client }, input) {
    const { data, links } = await client.searchVals({ ...input, ...withoutTexts })
    const vals = data.map((val) => ({ ...toValSummary(val), file: val.file }))
    return { data: { vals, nextCursor: toNextCursor(links) } }
  },
})

const listMyVals = defineTool({
  name: "list_my_vals",
  title: "List my vals",
  description: "Lists your own vals, the latest change first.",
  scopes: ["val:read"],
  effect: "read",
  input: z.object({
    query: z.string().max(limits.queryCharsMax).optional().describe("A text that they contain"),
    type: valType.optional().describe("Only vals of this type"),
    ...pageArguments,
  }),
  output: summaries,
  async run({ client }, input) {
    const { data, links } = await client.listMyVals({ ...input, ...withoutTexts, sort: "updated" })
    return { data: { vals: data.map(toValSummary), nextCursor: toNextCursor(links) } }
  },
})

const readVal = defineTool({
  name: "read_val",
  title: "Read a val",
  description:
    "Returns the code and the readme of a val. edit_val needs the version that this returns. Long code comes in pages: pass nextLine as fromLine to get the next.",
  scopes: ["val:read"],
  effect: "read",
  input: z.object({
    val: valArgument,
    version: z.int().min(1).optional().describe("An older version; without it the current one"),
    fromLine: z.int().min(1).default(1).describe("The first line to return"),
    lines: z.int().min(1).max(10_000).default(10_000).describe("How many lines at most"),
  }),
  output: valSummary.extend({
    readme: z.string().nullable().describe("Markdown; its beginning if it is long"),
    code: z.string(),
    fromLine: z.int(),
    toLine: z.int(),
    totalLines: z.int(),
    nextLine: z.int().nullable().describe("Pass it as fromLine; null if the code ends here"),
    isLineTruncated: z.boolean().describe("Whether a line was too long and lacks its end"),
  }),
  async run(context, { val: named, version, fromLine, lines }) {
    const val =
      version === undefined
        ? await findVal(context, named)
        : await context.client.getVersion({ val_id: await findValId(context, named), version })
    const { text: code, ...page } = toTextPage(val.code, fromLine, lines, toolLimits.textCharsMax)
    const summary = toValSummary(val)
    const readme = val.readme === null ? null : truncate(val.readme, toolLimits.readmeCharsMax)
    const next = page.nextLine === null ? "" : `; continue with fromLine ${page.nextLine}`
    const head = `${summary.val}, ${val.type}, ${val.privacy}, version ${val.version}, lines ${page.fromLine} to ${page.toLine} of ${page.totalLines}${next}`
    return { data: { ...summary, readme, code, ...page }, text: `${head}\n\n${code}` }
  },
})

const listVersions = defineTool({
  name: "list_versions",
  title: "List versions",
  description:
    "Lists the versions of a val, newest first, without their code. Use read_val with a version to see its code, and edit_val with that code to restore it.",
  scopes: ["val:read"],
  effect: "read",
  input: z.object({ val: valArgument, ...pageArguments }),
  output: z.object({
    versions: z.array(
      z.object({
        version: z.int(),
        createdAt: z.string(),
        codeChars: z.int().describe("The length of its code"),
      }),
    ),
    nextCursor,
  }),
  async run(context, { val, ...page }) {
    const val_id = await findValId(context, val)
    const { data, links } = await context.client.listVersions({ val_id, ...page })
    const versions = data.map(({ version, createdAt, code }) => ({
      version,
      createdAt,
      codeChars: code.length,
    }))
    return { data: { versions, nextCursor: toNextCursor(links) } }
  },
})

/** Finding and reading vals. */
export const valTools = [searchVals, listMyVals, readVal, listVersions]
