import { z } from "zod"
import { limits, namePattern, valNamePattern } from "../limits.ts"
import { fileTypes, privacies, runSources, runStatuses, scopes, valTypes } from "../lists.ts"
import { chars, list } from "./lengths.ts"

/** Text that both databases and every encoding preserve: without NUL and lone surrogates. */
export function text(charsMax: number, charsMin = 0) {
  return chars(charsMax, charsMin)
    .refine((value) => !value.includes("\0"), "must not contain the NUL character")
    .refine((value) => value.isWellFormed(), "must not contain a lone surrogate")
}

/**
 * A val's name. It becomes part of a host name, so it is unique per owner ignoring case, and `-` is
 * the same as `_`.
 */
export const valName = chars(limits.nameCharsMax, 1).regex(
  valNamePattern,
  "must start with a letter and contain only letters, digits, - and _",
)

/** A user's name, without `@`. */
export const username = chars(limits.usernameCharsMax, 1).regex(
  namePattern,
  "must start with a letter and contain only letters, digits and _",
)

/** An id: a UUID, version 7 for everything that this server makes. */
export const id = z.guid()

/** An id in a request. Ids are stored in lower case; clients may send upper case. */
export const idParam = id.transform((value) => value.toLowerCase())

/** A time in UTC with milliseconds. */
export const time = z.iso.datetime({ precision: 3 })

/** An absolute URL. */
export const url = z.string().meta({ format: "uri" })

/** Who may see a val: all users, those who know its URL, or only its owner. */
export const privacy = z.enum(privacies)

/** How a val is started. */
export const valType = z.enum(valTypes)

/** What a file is. */
export const fileType = z.enum(fileTypes)

/** The types that a client may send: two older names of `http` are accepted. */
export const valTypeInput = z
  .enum(["http", "script", "interval", "email", "httpnext", "express"])
  .transform((type) => (type === "httpnext" || type === "express" ? "http" : type))

/** What a token may do. */
export const scope = z.enum(scopes)

/** What a token may do. */
export type Scope = z.infer<typeof scope>

/** What started a run. */
export const runSource = z.enum(runSources)

/** The status of a run. */
export const runStatus = z.enum(runStatuses)

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
