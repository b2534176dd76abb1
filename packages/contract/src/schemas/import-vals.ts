import { z } from "zod"
import { limits } from "../limits.ts"
import { fixSchema } from "../openapi/fix-schema.ts"
import { id, privacy, text, valName, valTypeInput } from "./fields.ts"
import { code, moment, readme } from "./inputs.ts"
import { list } from "./lengths.ts"
import { atMostLevels } from "./levels.ts"

/**
 * A val with its history, oldest version first. What is left out of a new val is as when it is
 * saved; of an existing one it stays.
 */
export const importedVal = z.object({
  name: valName,
  type: valTypeInput.optional(),
  privacy: privacy.optional(),
  readme: readme.optional(),
  createdAt: moment.optional(),
  updatedAt: moment.optional(),
  versions: list(
    // Far from where numbers end, so that the val can be saved afterwards for as long as anybody
    // likes.
    z.object({
      version: z.int().min(1).max(limits.importVersionMax).optional(),
      code,
      createdAt: moment.optional(),
    }),
    limits.importVersionsMax,
    1,
  ),
  comments: list(
    // Elsewhere names may be longer. Nobody here has such a name.
    z.object({
      author: text(limits.importAuthorCharsMax),
      comment: text(limits.commentCharsMax, 1),
      createdAt: moment.optional(),
    }),
    limits.importCommentsMax,
  ).optional(),
})

/** A val as an archive has it and a client sends it. */
export type ImportedVal = z.input<typeof importedVal>

/**
 * The vals of a batch are read one by one with the schema above, because one that is not acceptable
 * must not fail the others: here each is taken as it is, and only the document says what it should
 * be.
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

/**
 * What becomes of a val that exists and differs: it is left alone, gets what is new as a version,
 * or counts as a failure.
 */
export const ifExists = z.enum(["skip", "version", "fail"])

/** What a client sends to import vals. */
export const importValsBody = z.object({
  // What is nested deeper could be read, but not handed from one thread to another.
  vals: list(anyImportedVal, limits.importValsMax, 1).refine(
    ...atMostLevels(limits.importLevelsMax),
  ),
  dryRun: z.boolean().optional(),
  ifExists: ifExists.optional(),
})

/** What became of one val, or with `dryRun` what would. */
export const importResult = z
  .object({
    // As it was sent, where that was a text: it need not be a name.
    name: z.string(),
    status: z.enum(["created", "unchanged", "updated", "skipped", "failed"]),
    id: id.optional(),
    version: z.int().min(1).optional(),
    // Why it failed or was skipped, or what of it could not be kept.
    message: z.string().optional(),
  })
  .meta({ id: "ImportResult" })

/** What became of each val, in the order in which they were sent. */
export const importValsResult = z
  .object({ results: z.array(importResult) })
  .meta({ id: "ImportResults" })
