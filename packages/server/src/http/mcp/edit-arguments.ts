import { limits } from "@hamlet/contract"
import { z } from "zod"
import { applyDiff, applyEdits } from "./apply-edits.ts"
import { ToolError, toolLimits } from "./tool.ts"

/** The arguments of a tool that changes a text, beside one for the whole new text. */
export const editArguments = {
  edits: z
    .array(
      z.object({
        oldText: z.string().min(1).describe("Text that occurs exactly once, spaces included"),
        newText: z.string().describe("What replaces it"),
        all: z.boolean().optional().describe("Replace every occurrence instead of the only one"),
      }),
    )
    .min(1)
    .max(toolLimits.editsMax)
    .optional()
    .describe("Replacements, applied in this order, all or none"),
  diff: z.string().min(1).max(toolLimits.diffCharsMax).optional().describe("A unified diff"),
}

/** What an assistant wants to change; `whole` has the name of its argument. */
interface Edit {
  readonly edits?: Parameters<typeof applyEdits>[1] | undefined
  readonly diff?: string | undefined
  readonly whole: { readonly name: string; readonly text: string | undefined }
}

/** Throws unless there is exactly one change. */
export function assertOneEdit(what: string, { edits, diff, whole }: Edit): void {
  if ([edits, diff, whole.text].filter((it) => it !== undefined).length !== 1)
    throw new ToolError(
      `Cannot edit the ${what}: pass exactly one of edits, diff and ${whole.name}`,
    )
}

/** The text after the change. */
export function applyEdit(text: string, { edits, diff, whole }: Edit): string {
  if (whole.text !== undefined) return whole.text
  return edits === undefined
    ? applyDiff(text, diff ?? "", { hunksMax: toolLimits.editsMax, charsMax: limits.codeCharsMax })
    : applyEdits(text, edits, limits.codeCharsMax)
}
