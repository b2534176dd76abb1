import { z } from "zod"
import { limits } from "../limits.ts"
import { chars, list } from "./lengths.ts"

/** Text that both databases and every encoding preserve: without NUL and lone surrogates. */
export function text(charsMax: number, charsMin = 0) {
  return chars(charsMax, charsMin)
    .refine((value) => !value.includes("\0"), "must not contain the NUL character")
    .refine((value) => value.isWellFormed(), "must not contain a lone surrogate")
}

const namePattern = /^[a-zA-Z][a-zA-Z0-9_]*$/
const nameWords = "must start with a letter and contain only letters, digits and _"

/** A val's name. It becomes part of a host name, so it is unique per owner ignoring case. */
export const valName = chars(limits.nameCharsMax, 1).regex(namePattern, nameWords)

/** A user's name, without `@`. */
export const username = chars(limits.usernameCharsMax, 1).regex(namePattern, nameWords)

/** An id: a UUID, version 7 for everything that this server makes. */
export const id = z.guid()

/** A time in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 })

/** An absolute URL. */
export const url = z.string().meta({ format: "uri" })

/** Who may see a val: all users, those who know its URL, or only its owner. */
export const privacy = z.enum(["public", "unlisted", "private"])

/** How a val is started. */
export const valType = z.enum(["http", "script", "interval", "email"])

/** The types that a client may send: two older names of `http` are accepted. */
export const valTypeInput = z
  .enum(["http", "script", "interval", "email", "httpnext", "express"])
  .transform((type) => (type === "httpnext" || type === "express" ? "http" : type))

/** What a token may do. */
export const scope = z.enum([
  "val:read",
  "val:write",
  "user:read",
  "user:write",
  "run:read",
  "run:write",
  "blob:read",
  "blob:write",
  "sqlite:read",
  "sqlite:write",
  "email:write",
  "openai:write",
  "admin",
  // All data on the server, including private vals of all users. Not part of `admin`.
  "backup",
])

/** What a token may do. */
export type Scope = z.infer<typeof scope>

/** What started a run. */
export const runSource = z.enum(["ui", "api", "http", "interval", "email"])

/** The status of a run. */
export const runStatus = z.enum([
  "queued",
  "running",
  "succeeded",
  "failed",
  "timed_out",
  "cancelled",
  "crashed",
])

/** Several values, comma-joined or repeated. */
const several = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [...new Set([value].flat().flatMap((part) => part.split(",")))])

/** The texts of vals that a list can leave out. */
const omittable = z.enum(["code", "readme"])

/** The parameter that leaves them out, one or several. */
export const omitParam = several.pipe(list(omittable, omittable.options.length)).meta({
  wire: {
    type: "array",
    items: { type: "string", enum: omittable.options },
    description: "Leave these texts out: `code` is empty then, and `readme` is null",
  },
})

/** Languages write booleans differently: `True` in Python, `1` in a shell. */
export const booleanParam = z
  .string()
  .regex(/^(?:true|false|1|0)$/i, "must be true or false")
  .transform((value) => value === "1" || value.toLowerCase() === "true")
  .meta({ wire: { type: "boolean" } })

/** The sources of runs, one or several. */
export const sourcesParam = several
  .pipe(list(runSource, runSource.options.length))
  .meta({ wire: { type: "array", items: { type: "string", enum: runSource.options } } })

/** The number of a version in a path. */
export const versionNumber = z
  .string()
  .regex(/^[0-9]+$/, "must be an integer of at least 0")
  .transform(Number)
  .meta({ wire: { type: "integer", minimum: 0 } })

/** The statuses of runs, one or several. */
export const statusesParam = several
  .pipe(list(runStatus, runStatus.options.length))
  .meta({ wire: { type: "array", items: { type: "string", enum: runStatus.options } } })
