import { z } from "zod"
import { limits } from "../limits.ts"
import { fixSchema } from "../openapi/fix-schema.ts"
import { id, moment, privacy, text, valName, valTypeInput } from "./fields.ts"
import { code, readme } from "./inputs.ts"
import { list } from "./lengths.ts"
import { atMostLevels } from "./levels.ts"

/**
 * A val with its history, oldest version first. Missing fields of a new val get the defaults of a
 * save; those of an existing val stay.
 */
export const importedVal = z.object({
  name: valName,
  type: valTypeInput.optional(),
  privacy: privacy.optional(),
  readme: readme.optional(),
  createdAt: moment.optional(),
  updatedAt: moment.optional(),
  versions: list(
    // Well below the largest version number, so that the val can still be saved often.
    z.object({
      version: z.int().min(1).max(limits.importVersionMax).optional(),
      code,
      createdAt: moment.optional(),
    }),
    limits.importVersionsMax,
    1,
  ),
  comments: list(
    // The author may have a longer name than any user here: other services allow it.
    z.object({
      author: text(limits.importAuthorCharsMax),
      comment: text(limits.commentCharsMax, 1),
      createdAt: moment.optional(),
    }),
    limits.importCommentsMax,
  ).optional(),
})

/** A val as an archive stores it and a client sends it. */
export type ImportedVal = z.input<typeof importedVal>

/**
 * The vals of a batch are validated one by one with the schema above, because an invalid one must
 * not fail the others: here they are accepted as they are, and only the OpenAPI document describes
 * their shape.
 */
const anyImportedVal = z.custom<ImportedVal>().meta({ wire: toWire() })

function toWire(): object {
  const { $schema, ...wire } = z.toJSONSchema(importedVal, {
    io: "input",
    unrepresentable: "any",
    override: fixSchema,
  })
  return wire
}

/** What to do with an existing val that differs: skip it, add a version, or report a failure. */
export const ifExists = z.enum(["skip", "version", "fail"])

/** The body of an import. */
export const importValsBody = z.object({
  // Deeper nesting could be parsed, but not passed from thread to thread.
  vals: list(anyImportedVal, limits.importValsMax, 1).refine(
    ...atMostLevels(limits.importLevelsMax),
  ),
  dryRun: z.boolean().optional(),
  ifExists: ifExists.optional(),
})

/** The result of one val; with `dryRun`, the expected one. */
export const importResult = z
  .object({
    // The name as it was sent, if it was a string: it need not be valid.
    name: z.string(),
    status: z.enum(["created", "unchanged", "updated", "skipped", "failed"]),
    id: id.optional(),
    version: z.int().min(1).optional(),
    // Why it failed or was skipped, or what could not be kept.
    message: z.string().optional(),
  })
  .meta({ id: "ImportResult" })

/** The result of each val, in the order sent. */
export const importValsResult = z
  .object({ results: z.array(importResult) })
  .meta({ id: "ImportResults" })
