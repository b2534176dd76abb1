import type { PackageCase } from "../package-case.ts"

/** Packages that check values against schemas. */
export const validation: readonly PackageCase[] = [
  {
    code: `import { z } from "npm:zod@4.6.7"
const user = z.object({ name: z.string().min(1), age: z.coerce.number().int() })
export default () => [user.parse({ name: "Ada", age: "36" }), user.safeParse({ name: "" }).success]`,
    returns: [{ name: "Ada", age: 36 }, false],
  },
  {
    code: `import Ajv from "npm:ajv@8.20.0"
import addFormats from "npm:ajv-formats@3.0.1"
export default () => {
  const ajv = new Ajv()
  addFormats(ajv)
  const validate = ajv.compile({ type: "string", format: "email" })
  return [validate("ada@example.com"), validate("ada"), validate.errors[0].keyword]
}`,
    returns: [true, false, "format"],
    isInTests: true,
  },
  {
    code: `import Joi from "npm:joi@18.3.0"
export default () => {
  const { value, error } = Joi.object({ port: Joi.number().port() }).validate({ port: "8080" })
  return [value, error === undefined]
}`,
    returns: [{ port: 8080 }, true],
  },
  {
    code: `import * as yup from "npm:yup@1.7.1"
export default async () => {
  const schema = yup.object({ name: yup.string().required(), at: yup.date() })
  const { name, at } = await schema.validate({ name: "Ada", at: "2026-01-01T00:00:00Z" })
  return [name, at.getTime(), await schema.isValid({})]
}`,
    returns: ["Ada", 1767225600000, false],
  },
  {
    code: `import * as v from "npm:valibot@1.5.0"
const schema = v.object({ email: v.pipe(v.string(), v.email()) })
export default () => [v.is(schema, { email: "ada@example.com" }), v.is(schema, { email: "ada" })]`,
    returns: [true, false],
  },
  {
    code: `import * as t from "npm:io-ts@2.2.22"
import "npm:fp-ts@2.16.11"
const user = t.type({ id: t.number })
export default () => [user.decode({ id: 1 })._tag, user.is({ id: "1" })]`,
    returns: ["Right", false],
  },
  {
    code: `import { assert, number, object, string, StructError } from "npm:superstruct@2.0.2"
export default () => {
  try {
    assert({ id: 1, name: 2 }, object({ id: number(), name: string() }))
  } catch (error) {
    return [error instanceof StructError, error.path]
  }
}`,
    returns: [true, ["name"]],
  },
]
