import { z } from "zod"
import { limits, namePattern, valNamePattern } from "../limits.ts"
import { fileTypes, privacies, runSources, runStatuses, scopes, valTypes } from "../lists.ts"
import { chars, list } from "./lengths.ts"

const hasNoNul = z.refine<string>(
  (value) => !value.includes("\0"),
  "must not contain the NUL character",
)
const isWellFormed = z.refine<string>(
  (value) => value.isWellFormed(),
  "must not contain a lone surrogate",
)

/**
 * Text that both databases and every encoding preserve, without NUL and lone surrogates, and that
 * passes the checks.
 */
export function text(
  charsMax: number,
  charsMin = 0,
  ...checks: readonly z.core.$ZodCheck<string>[]
) {
  return chars(charsMax, charsMin, hasNoNul, isWellFormed, ...checks)
}

/**
 * A val's name. It becomes part of a host name, so it is unique per owner ignoring case, and `-` is
 * the same as `_`.
 */
export const valName = chars(limits.nameCharsMax, 1).regex(
  valNamePattern,
  "must start with a letter and contain only letters, digits, - and _, or be .config",
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
export const several = z
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

// Date parses far more than ISO 8601, and assumes local time without a zone, so the format is
// checked first.
const timePattern =
  /^(?<day>\d{4}-\d{2}-\d{2})(?:T(?<time>\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

// Years 0000 to 9999, which have four digits.
const timeMin = Date.parse("0000-01-01T00:00:00Z")
const timeMax = Date.parse("9999-12-31T23:59:59.999Z")

/** Parses a time to milliseconds: without a zone it is UTC, and a date is its first moment. */
export const moment = timeParam((ms) => ms)

/** Parses a time to nanoseconds, like `moment`. */
export const nanoMoment = timeParam((ms, value) => {
  const digits = /[.,]\d{3}(\d{1,6})/.exec(value)?.[1] ?? ""
  return BigInt(ms) * 1_000_000n + BigInt(digits.padEnd(6, "0"))
})

function timeParam<Time>(convert: (ms: number, value: string) => Time) {
  return chars(limits.timeCharsMax)
    .transform((value, context) => {
      // In a query string an unencoded `+` arrives as a space.
      const ms = parseTime(value.replace(" ", "+"))
      if (ms === undefined)
        context.addIssue({
          code: "custom",
          message: "must be a date or a time such as 2024-02-29 or 2024-02-29T12:30:00Z",
        })
      return convert(ms ?? 0, value)
    })
    .meta({ wire: { type: "string", format: "date-time" } })
}

function parseTime(value: string): number | undefined {
  const { day, time = "00:00", zone = "Z" } = timePattern.exec(value)?.groups ?? {}
  if (day === undefined) return undefined
  // Date.parse needs a point before the fraction, and a colon in the zone.
  const offset = zone.replace(
    /^([+-]\d{2}):?(\d{2})?$/,
    (_, hours: string, minutes = "00") => `${hours}:${minutes}`,
  )
  const ms = Date.parse(`${day}T${time.replace(",", ".")}${offset.toUpperCase()}`)
  // Date.parse reads 30 February as 1 March: only a real date survives a round trip.
  const isReal = new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) ?? false
  return isReal && ms >= timeMin && ms <= timeMax ? ms : undefined
}

/** What a val is for, in one line of its owner; an empty one is none. */
export const description = text(limits.descriptionCharsMax)
  .nullable()
  .transform((value) => (value === "" ? null : value))

/**
 * A picture of a val: the address of one, or a small one itself, without the formats that can contain
 * scripts; an empty text is none.
 */
const imageUrl = chars(limits.imageUrlCharsMax)
  .refine(
    (value) => value === "" || isPicture(value) || isWebAddress(value),
    "must be an http or https URL without a user name, or a PNG, JPEG, WebP or GIF as data: URL in Base64",
  )
  .nullable()
  .transform((value) => (value === "" ? null : value))

/** How a val presents itself; what is absent stays. */
export const presentation = { description: description.optional(), imageUrl: imageUrl.optional() }

function isPicture(value: string): boolean {
  return /^data:image\/(?:png|jpeg|webp|gif);base64,[a-zA-Z0-9+/]+={0,2}$/.test(value)
}

/** Whether a value is an address of the web, of characters that every URL parser treats alike. */
export function isWebAddress(value: string): boolean {
  if (!/^https?:\/\/[\x21-\x7e]+$/i.test(value)) return false
  const parsed = URL.parse(value)
  return parsed !== null && parsed.username === "" && parsed.password === ""
}
