import { code, privacy, readme, valName, valType } from "@hamlet/contract"
import { z } from "zod"
import { applyEdit, assertOneEdit, editArguments } from "../edit-arguments.ts"
import { findVal, findValId, valArgument } from "../find-val.ts"
import { defineTool, ToolError } from "../tool.ts"
import { toValSummary, valSummary } from "../val-view.ts"

const fields = {
  type: valType
    .optional()
    .describe(
      "http: responds to web requests; script: called with arguments; interval: runs on a schedule; email: receives mail",
    ),
  privacy: privacy
    .optional()
    .describe("public: listed; unlisted: readable by its address; private: only for its owner"),
  readme: readme.optional().describe("Markdown that explains the val"),
}

const createVal = defineTool({
  name: "create_val",
  title: "Create a val",
  description:
    "Creates a val from TypeScript code. By default it is a private script. Read the page vals of read_docs first if you have not written a val before; then try it with run_val or request_val.",
  scopes: ["val:write"],
  effect: "write",
  input: z.object({
    name: valName.optional().describe("Letters, digits and _; generated if it is missing"),
    code: code.describe("A TypeScript module whose default export is called"),
    ...fields,
  }),
  output: valSummary,
  async run({ client }, input) {
    return { data: toValSummary(await client.createVal(input)) }
  },
})

const editVal = defineTool({
  name: "edit_val",
  title: "Edit the code of a val",
  description:
    "Saves a new version of one of your vals. Pass the version that read_val returned, and one of: edits (exact replacements, the safest way), diff (a unified diff), code (all of the new code). It is refused if the val has a newer version, so that no change of others is lost.",
  scopes: ["val:read", "val:write"],
  effect: "destroy",
  input: z.object({
    val: valArgument,
    version: z.int().min(1).describe("The version that you have read"),
    ...editArguments,
    code: code.optional().describe("The whole new code"),
  }),
  output: valSummary.extend({
    isUnchanged: z.boolean().describe("Whether the code was the same, so that nothing was saved"),
  }),
  async run(context, { val: named, version, edits, diff, code }) {
    const edit = { edits, diff, whole: { name: "code", text: code } }
    assertOneEdit("val", edit)
    const val = await findVal(context, named)
    if (val.version !== version)
      throw new ToolError(
        `Cannot edit the val: you have read version ${version}, and it has version ${val.version} now. Call read_val again`,
      )
    const saved = await context.client.createVersion(
      { val_id: val.id, code: applyEdit(val.code, edit) },
      { ifMatch: version },
    )
    return { data: { ...toValSummary(saved), isUnchanged: saved.version === version } }
  },
})

const updateVal = defineTool({
  name: "update_val",
  title: "Change the settings of a val",
  description:
    "Renames one of your vals, or changes its type, privacy or readme. The code stays the same. A new name changes its web address and breaks imports by name.",
  scopes: ["val:read", "val:write"],
  effect: "destroy",
  input: z.object({
    val: valArgument,
    name: valName.optional().describe("The new name"),
    ...fields,
  }),
  output: valSummary,
  async run(context, { val, ...changes }) {
    const val_id = await findValId(context, val)
    await context.client.updateVal({ val_id, ...changes })
    return { data: toValSummary(await context.client.getVal({ val_id })) }
  },
})

/** Creating and changing vals. */
export const changeValTools = [createVal, editVal, updateVal]
