import { privacy, valType } from "@hamlet/contract"
import { z } from "zod"
import type { ApiVal } from "./find-val.ts"
import { toolLimits } from "./tool.ts"

/** A val without its code. */
export const valSummary = z.object({
  val: z.string().describe('"username/name", by which other tools find it'),
  id: z.string(),
  type: valType,
  privacy,
  version: z.int().describe("The current version"),
  about: z.string().nullable().describe("One line that says what it is"),
  page: z.string().describe("Where people see and edit it"),
  module: z.string().describe("The address by which other vals import it"),
  endpoint: z.string().nullable().describe("The web address of a val of type http"),
  updatedAt: z.string(),
})

/** The summary of a val. */
export function toValSummary(val: ApiVal): z.infer<typeof valSummary> {
  return {
    val: `${val.author.username}/${val.name}`,
    id: val.id,
    type: val.type,
    privacy: val.privacy,
    version: val.version,
    about: val.summary === "" ? null : val.summary,
    page: val.url,
    module: val.links.module,
    endpoint: val.links.endpoint ?? null,
    updatedAt: val.updatedAt,
  }
}

/** The arguments of a tool that returns a list. */
export const pageArguments = {
  limit: z
    .int()
    .min(1)
    .max(toolLimits.pageItemsMax)
    .default(toolLimits.pageItemsDefault)
    .describe("How many items at most"),
  cursor: z
    .string()
    .max(10_000)
    .optional()
    .describe("nextCursor of the page before, to get the next page"),
}

/** Where the next page of a list starts. */
export const nextCursor = z.string().nullable().describe("Pass it as cursor; null on the last page")

/** The cursor in the link to the next page. */
export function toNextCursor(links: { readonly next?: string | undefined }): string | null {
  return links.next === undefined ? null : new URL(links.next).searchParams.get("cursor")
}
