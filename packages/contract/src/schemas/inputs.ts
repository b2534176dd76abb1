import { z } from "zod"
import { limits } from "../limits.ts"
import { cursorParam } from "./cursor.ts"
import {
  id,
  privacy,
  runSource,
  scope,
  text,
  username,
  valName,
  valType,
  valTypeInput,
} from "./fields.ts"
import { chars, email, list } from "./lengths.ts"
import { atMostLevels } from "./levels.ts"

/**
 * Parameters arrive as text; the `wire` of their meta says what the OpenAPI document shows instead.
 */
export function integerParam(min: number, max: number) {
  return z
    .string()
    .regex(/^[0-9]{1,15}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be an integer from ${min} to ${max}`)
    .meta({ wire: { type: "integer", minimum: min, maximum: max } })
}

/** Each language writes them in its own way: `True` in Python, `1` in a shell. */
const booleanParam = z
  .string()
  .regex(/^(?:true|false|1|0)$/i, "must be true or false")
  .transform((value) => value === "1" || value.toLowerCase() === "true")
  .meta({ wire: { type: "boolean" } })

// Date parses far more than ISO-8601, and takes local time where no zone is given: the shape is
// checked first.
const timePattern =
  /^(?<day>\d{4}-\d{2}-\d{2})(?:T(?<time>\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(?<zone>Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

// The years 0000 to 9999: others are not written with four digits.
const timeMin = Date.parse("0000-01-01T00:00:00Z")
const timeMax = Date.parse("9999-12-31T23:59:59.999Z")

/**
 * A moment as a client writes it, read into milliseconds: without a zone it is in UTC, and a date
 * is the first moment of that day.
 */
export const moment = chars(limits.timeCharsMax)
  .transform((value, context) => {
    // In a query string an unencoded `+` of the zone arrives as a space.
    const ms = parseTime(value.replace(" ", "+"))
    if (ms === undefined)
      context.addIssue({
        code: "custom",
        message: "must be a date or a time, as 2024-02-29 or 2024-02-29T12:30:00Z",
      })
    return ms ?? 0
  })
  .meta({ wire: { type: "string", format: "date-time" } })

function parseTime(value: string): number | undefined {
  const { day, time = "00:00", zone = "Z" } = timePattern.exec(value)?.groups ?? {}
  if (day === undefined) return undefined
  // Date.parse wants a point before the fraction, and hours and minutes with a colon in the zone.
  const offset = zone.replace(
    /^([+-]\d{2}):?(\d{2})?$/,
    (_, hours: string, minutes = "00") => `${hours}:${minutes}`,
  )
  const ms = Date.parse(`${day}T${time.replace(",", ".")}${offset.toUpperCase()}`)
  // Date.parse reads 30 February as 1 March. Only a day that exists is the same after it went
  // through UTC.
  const isReal = new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) ?? false
  return isReal && ms >= timeMin && ms <= timeMax ? ms : undefined
}

const sourcesParam = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [...new Set([value].flat().flatMap((part) => part.split(",")))])
  .pipe(list(runSource, runSource.options.length))
  .meta({ wire: { type: "array", items: { type: "string", enum: runSource.options } } })

const paging = {
  limit: integerParam(1, limits.pageItemsMax).default(limits.pageItemsDefault),
  offset: integerParam(0, limits.pageOffsetMax).default(0),
  // Of the link to a next page: the page begins there, whatever was saved or deleted since, and the
  // offset only says where that was.
  cursor: cursorParam.optional(),
}
const period = { since: moment.optional(), until: moment.optional() }

/** The query of a plain list. */
export const pageQuery = z.object(paging)

/** The query of a list of references. */
export const periodQuery = z.object({ ...paging, ...period })

/** The query of a list of runs. */
export const runsQuery = z.object({
  ...paging,
  ...period,
  error: booleanParam.optional(),
  source: sourcesParam.optional(),
})

/** The query of the list of the caller's runs. */
export const myRunsQuery = runsQuery.extend({
  val_id: id.transform((value) => value.toLowerCase()).optional(),
})

/** The query of a list of comments. */
export const commentsQuery = z.object({
  ...paging,
  ...period,
  relationship: z.enum(["any", "given", "received"]).default("any"),
})

/** The query of the list of vals. */
export const valsQuery = z.object({
  ...paging,
  privacy: privacy.optional(),
  userId: id.transform((value) => value.toLowerCase()).optional(),
})

/**
 * The query of the list of the caller's vals; without an order names go up and everything else
 * begins with the newest or the most.
 */
export const myValsQuery = z.object({
  ...paging,
  query: text(limits.queryCharsMax).optional(),
  privacy: privacy.optional(),
  type: valType.optional(),
  sort: z.enum(["created", "updated", "name", "likes", "run"]).default("created"),
  order: z.enum(["asc", "desc"]).optional(),
})

/** The query of a search. */
export const searchQuery = z.object({ ...paging, query: text(limits.queryCharsMax, 1) })

const name = text(200, 1)
const versionNumber = z
  .string()
  .regex(/^[0-9]+$/, "must be an integer of at least 0")
  .transform(Number)
  .meta({ wire: { type: "integer", minimum: 0 } })

// Ids are kept in lower case; a client may shout.
const idParam = id.transform((value) => value.toLowerCase())

// Whoever reads a URL takes these two for directions, encoded or not, so that nobody could ever ask
// for them.
const blobKey = text(limits.blobKeyCharsMax, 1).refine(
  (key) => key !== "." && key !== "..",
  "must not be . or .., which no URL can name",
)

/** The query of the list of blobs. */
export const blobsQuery = z.object({
  prefix: text(limits.blobKeyCharsMax).default(""),
  after: text(limits.blobKeyCharsMax).optional(),
  limit: integerParam(1, limits.blobListItemsMax).default(limits.blobListItemsMax),
})

/** Path parameters, by what the path names. */
export const params = {
  val: z.object({ val_id: idParam }),
  version: z.object({ val_id: idParam, version: versionNumber }),
  user: z.object({ user_id: idParam }),
  username: z.object({ username: name }),
  valByName: z.object({ username: name, val_name: name }),
  run: z.object({ run_id: idParam }),
  evaluation: z.object({ val_id: idParam, run_id: idParam }),
  comment: z.object({ comment_id: idParam }),
  token: z.object({ token_id: idParam }),
  standardModule: z.object({ module: name }),
  blob: z.object({ key: blobKey }),
  secret: z.object({
    name: chars(limits.secretNameCharsMax, 1).regex(
      /^[A-Z_][A-Z0-9_]*$/,
      "must have nothing but capital letters, digits and _, and begin with no digit",
    ),
  }),
}

/** Arguments of a val: any JSON. What is nested deeper could be read, but not written again. */
const args = list(z.unknown(), limits.argsMax).refine(...atMostLevels(limits.argLevelsMax))

const argsParam = z
  .string()
  // A form without arguments sends an empty text.
  .transform((value) => value || "[]")
  .refine((value) => args.safeParse(parseJson(value)).success, "must be a list in JSON")
  .meta({ wire: { type: "string", description: "An array in JSON", examples: ["[1, 2]"] } })

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What a client sends to run a val; without a version the current one runs. */
export const createRunBody = z.object({ args: args.optional(), version: z.int().min(0).optional() })

/** What a client sends to call a val. */
export const callValBody = z.object({ args: args.optional() })

/** The same in a query string. */
export const callValQuery = z.object({ args: argsParam.optional() })

/** The code of a val. */
export const code = text(limits.codeCharsMax, 1)

/** What a val says of itself. */
export const readme = text(limits.readmeCharsMax).nullable()

const optionalFields = {
  readme: readme.optional(),
  privacy: privacy.optional(),
  type: valTypeInput.optional(),
}

/** What a client sends to create a val; without a name one is made up. */
export const createValBody = z.object({ code, name: valName.optional(), ...optionalFields })

/** What a client sends to create a val or to update the one with that name. */
export const saveValBody = z.object({ name: valName, code, ...optionalFields })

/** What a client sends to run code that is no val. */
export const evalCodeBody = z.object({ code, args: args.optional() })

/** What a client sends to change a val without touching its code. */
export const updateValBody = z
  .object({ name: valName.optional(), ...optionalFields })
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    "must have at least one of name, privacy, readme, type",
  )

/** What a client sends to make new code the current version. */
export const createVersionBody = z.object({ code, name: valName.optional(), ...optionalFields })

/** What a client sends to comment on a val. */
export const createCommentBody = z.object({ comment: text(limits.commentCharsMax, 1) })

/** What a client sends to create a token. */
export const createTokenBody = z.object({
  name: text(limits.tokenNameCharsMax, 1),
  scopes: list(scope, scope.options.length, 1).transform((scopes) => [...new Set(scopes)]),
  expiresAt: moment.nullable().optional(),
})

const host = chars(limits.secretHostCharsMax, 1).regex(
  /^(?!-)[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*(:[0-9]{1,5})?$/,
  "must be a host name, with a port if need be",
)

/** What a client sends to set a secret. */
export const putSecretBody = z.object({
  value: text(limits.secretValueBytesMax).refine(
    (value) => new TextEncoder().encode(value).length <= limits.secretValueBytesMax,
    `must be at most ${limits.secretValueBytesMax} bytes`,
  ),
  hosts: list(host, limits.secretHostsMax, 1).nullable().optional(),
})

/** How a backup is taken. */
export const backupQuery = z.object({ skipDamaged: booleanParam.optional() })

/** What an administrator sends to create a user. */
export const createUserBody = z.object({
  username,
  email: email(limits.emailCharsMax).nullable().optional(),
})

/** What a user sends to change their profile. */
export const updateMeBody = z
  .object({
    bio: text(limits.bioCharsMax).nullable().optional(),
    email: email(limits.emailCharsMax).nullable().optional(),
  })
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    "must have at least one of bio, email",
  )

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const headerName = chars(limits.requestHeadCharsMax).regex(
  tokenPattern,
  "must be the name of a header",
)
// What else a header may hold, no two programs read alike.
const headerValue = chars(limits.requestHeadCharsMax).regex(
  /^[\t\x20-\x7e]*$/,
  "must be visible ASCII, spaces and tabs",
)
const headerPairs = list(z.tuple([headerName, headerValue]), limits.requestHeadersMax)
const headerRecord = z
  .record(headerName, headerValue)
  .refine(
    (record) => Object.keys(record).length <= limits.requestHeadersMax,
    `must be at most ${limits.requestHeadersMax} headers`,
  )
const requestHeaders = z.union([headerPairs, headerRecord])

/** The headers of a request as a list, in whichever of the two ways they were written. */
export function toHeaderPairs(
  headers: z.output<typeof requestHeaders>,
): readonly (readonly [name: string, value: string])[] {
  return Array.isArray(headers) ? headers : Object.entries(headers)
}

/**
 * What a client sends to have a request sent to a val: as strict as HTTP is on the wire, so that
 * nothing is read as something else.
 */
export const sendValRequestBody = z
  .object({
    method: chars(limits.requestMethodCharsMax)
      .regex(tokenPattern, "must be a method of HTTP")
      .refine(
        (method) => !/^(?:connect|trace)$/i.test(method),
        "must not be CONNECT or TRACE, which vals never see",
      ),
    // Path and query, in the way they stand in a request.
    path: chars(limits.requestHeadCharsMax).regex(
      /^\/[\x21\x22\x24-\x7e]*$/,
      "must begin with / and be visible ASCII without #: other characters are percent-encoded",
    ),
    headers: requestHeaders.optional(),
    body: z
      .string()
      .refine((body) => body.isWellFormed(), "must not contain a lone surrogate")
      .optional(),
    bodyBase64: z.base64().optional(),
  })
  .refine(({ body, bodyBase64 }) => !(body && bodyBase64), {
    path: ["bodyBase64"],
    message: "must not be there together with body",
  })
  .refine(
    ({ method, body, bodyBase64 }) => !((body || bodyBase64) && /^(?:get|head)$/i.test(method)),
    {
      path: ["body"],
      message: "must be empty: GET and HEAD have none",
    },
  )
  .refine(
    ({ path, headers = [] }) =>
      countHeadChars(path, toHeaderPairs(headers)) <= limits.requestHeadCharsMax,
    {
      path: ["headers"],
      message: `must have at most ${limits.requestHeadCharsMax} characters together with the path`,
    },
  )

/** On the wire a colon, a space and the end of the line come with each header. */
function countHeadChars(
  path: string,
  headers: readonly (readonly [name: string, value: string])[],
): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, path.length)
}
