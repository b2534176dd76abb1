import { z } from "zod"
import { limits } from "../../limits.ts"
import { text, time } from "../fields.ts"
import { secretDescription, variableName } from "../inputs.ts"

const value = text(limits.variableValueCharsMax)

/** The body of a new environment variable of a val. */
export const createVariableBody = z.object({
  key: variableName,
  value,
  description: secretDescription.optional(),
})

/** The body of a change; a description that is left out stays. */
export const putVariableBody = z.object({ value, description: secretDescription.optional() })

/** An environment variable without its value; `updatedAt` is null until it is changed. */
export const environmentVariable = z
  .object({
    key: z.string(),
    description: z.string().nullable(),
    createdAt: time,
    updatedAt: time.nullable(),
  })
  .meta({ id: "EnvironmentVariable" })
