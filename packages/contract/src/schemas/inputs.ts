import { z } from "zod"
import { limits } from "../limits.ts"
import { cursorParam } from "./cursor.ts"
import {
  booleanParam,
  idParam,
  moment,
  omitParam,
  presentation,
  privacy,
  scope,
  sourcesParam,
  statusesParam,
  text,
  username,
  valName,
  valType,
  valTypeInput,
  versionNumber,
} from "./fields.ts"
import { chars, email, list } from "./lengths.ts"
import { atMostLevels } from "./levels.ts"

/**
 * An integer parameter. Parameters arrive as text; `wire` in their meta is what the OpenAPI
 * document shows.
 */
export function integerParam(min: number, max: number) {
  return z
    .string()
    .regex(/^[0-9]{1,15}$/, `must be an integer from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be an integer from ${min} to ${max}`)
    .meta({ wire: { type: "integer", minimum: min, maximum: max } })
}

const paging = {
  limit: integerParam(1, limits.pageItemsMax).default(limits.pageItemsDefault),
  offset: integerParam(0, limits.pageOffsetMax).default(0),
  // From the link to the next page: the page starts there, whatever was saved or deleted since; the
  // offset is only informative.
  cursor: cursorParam.optional(),
}
const period = { since: moment.optional(), until: moment.optional() }

/** The query of a plain list. */
export const pageQuery = z.object(paging)

/** The query of a list of vals without filters. */
export const valPageQuery = z.object({ ...paging, omit: omitParam.optional() })

/** The query of a list of references. */
export const periodQuery = z.object({ ...paging, ...period })

/** Only runs of a file, or of a branch. */
export const fileFilter = { file_id: idParam.optional(), branch_id: idParam.optional() }

/** The query of a list of runs. */
export const runsQuery = z.object({
  ...paging,
  ...period,
  error: booleanParam.optional(),
  source: sourcesParam.optional(),
  status: statusesParam.optional(),
  text: chars(limits.runTextCharsMax, 1).optional(),
  ...fileFilter,
})

/** The query of the list of the caller's runs. */
export const myRunsQuery = runsQuery.extend({
  val_id: idParam.optional(),
})

/** The query of a list of comments. */
export const commentsQuery = z.object({
  ...paging,
  ...period,
  relationship: z.enum(["any", "given", "received"]).default("any"),
})

/** The query of the list of vals. By likes, runs and trend it has public vals only. */
export const valsQuery = z.object({
  ...paging,
  omit: omitParam.optional(),
  privacy: privacy.optional(),
  userId: idParam.optional(),
  sort: z.enum(["created", "likes", "runs", "trend"]).default("created"),
})

/**
 * The query of the list of the caller's vals; by default names ascend, and everything else starts
 * with the newest or the most.
 */
export const myValsQuery = z.object({
  ...paging,
  omit: omitParam.optional(),
  query: text(limits.queryCharsMax).optional(),
  privacy: privacy.optional(),
  type: valType.optional(),
  sort: z.enum(["created", "updated", "name", "likes", "run"]).default("created"),
  order: z.enum(["asc", "desc"]).optional(),
})

/** The query of a search. */
export const searchQuery = z.object({
  ...paging,
  omit: omitParam.optional(),
  query: text(limits.queryCharsMax, 1),
})

const name = text(200, 1)

// URL parsers interpret these two, encoded or not, so they could never be requested.
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

/** The query of what vals store: which val, unless the token is that of a run. */
export const valStorageQuery = z.object({
  val_id: idParam
    .optional()
    .describe(
      "The id of a val of the caller; without it, the token of a run means its own val, and for blobs another token means the account",
    ),
})

/** The query of the list of blobs of a val. */
export const valBlobsQuery = blobsQuery.extend(valStorageQuery.shape)

/** The name of an environment variable: what systems accept, and an address can name. */
export const variableName = text(
  limits.secretNameCharsMax,
  1,
  z.refine<string>((name) => !name.includes("="), "must not contain ="),
  z.refine<string>(
    (name) => name !== "." && name !== "..",
    "must not be . or .., which no URL can name",
  ),
)

/** The code of a val. */
export const code = text(limits.codeCharsMax, 1)

/** The parameters of paths. A name means the same in every path. */
export const pathParams = {
  val_id: idParam,
  version: versionNumber,
  user_id: idParam,
  username: name,
  val_name: name,
  run_id: idParam,
  comment_id: idParam,
  token_id: idParam,
  code,
  module: name,
  key: blobKey,
  file_path: text(limits.filePathCharsMax, 1),
  name: variableName,
  variable: variableName.describe("The name of the environment variable"),
  session_id: idParam,
  authorization_id: idParam.describe("The id of the authorization"),
  identity_id: idParam.describe("The id of the identity"),
  invitation_id: idParam,
  email_id: idParam,
  webhook_id: idParam,
  delivery_id: idParam,
  branch_id: idParam,
  file_id: idParam,
  org_id: idParam,
}

/**
 * Arguments of a val: any JSON, with limited depth, because deeper values could be parsed but not
 * serialised.
 */
export const args = list(z.unknown(), limits.argsMax).refine(...atMostLevels(limits.argLevelsMax))

const argsParam = z
  .string()
  // A form without arguments sends an empty string.
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

/** Which file of a val is meant. */
export const place = {
  // A path; by default the entry file.
  file: text(limits.filePathCharsMax, 1).optional(),
  // The name of a branch; by default `main`.
  branch: text(limits.nameCharsMax, 1).optional(),
}

/** The query of a module address: `v` is the old form of a version in the path, which wins. */
export const moduleQuery = z.object({ v: z.string().optional() })

/** The query of what belongs to a file of a val. */
export const placeQuery = z.object(place)

/**
 * The body of a run; by default the current version runs. `retries` is how often a failed run is
 * attempted again. It needs the header `Prefer: respond-async`.
 */
export const createRunBody = z.object({
  args: args.optional(),
  version: z.int().min(0).optional(),
  ...place,
  retries: z.int().min(0).max(limits.retriesMax).optional(),
})

/** The body of a call. */
export const callValBody = z.object({ args: args.optional() })

/** The query of a call of a val or of code. */
export const callArgsQuery = z.object({ args: argsParam.optional() })

/** The readme of a val. */
export const readme = text(limits.readmeCharsMax).nullable()

const optionalFields = {
  readme: readme.optional(),
  privacy: privacy.optional(),
  type: valTypeInput.optional(),
}

/** The body of a new val; without a name one is generated. */
export const createValBody = z.object({ code, name: valName.optional(), ...optionalFields })

/** The body to create a val, or to update the one with that name. */
export const saveValBody = z.object({ name: valName, code, ...optionalFields })

/** The body to run code that is not a val. */
export const evalCodeBody = z.object({ code, args: args.optional() })

/** Code to format, and the style of it. */
export const formatCodeBody = z.object({
  code,
  semicolons: z
    .boolean()
    .optional()
    .describe("Whether statements end with a semicolon; true by default"),
  quotes: z
    .enum(["double", "single"])
    .optional()
    .describe("The quotes around strings; double by default"),
})

/** The body to change a val without its code. */
export const updateValBody = z
  .object({ name: valName.optional(), ...presentation, ...optionalFields })
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    "must have at least one of name, description, imageUrl, privacy, readme, type",
  )

/** The body of a new version. */
export const createVersionBody = z.object({ code, name: valName.optional(), ...optionalFields })

/** The body of a fork; by default of the current version, under the same name, and private. */
export const forkValBody = z.object({
  version: z.int().min(0).optional(),
  name: valName.optional(),
  privacy: privacy.optional(),
})

/** The body of a comment. */
export const createCommentBody = z.object({ comment: text(limits.commentCharsMax, 1) })

/** The body of a new token. */
export const createTokenBody = z.object({
  name: text(limits.tokenNameCharsMax, 1),
  scopes: list(scope, scope.options.length, 1).transform((scopes) => [...new Set(scopes)]),
  expiresAt: moment.nullable().optional(),
})

const host = chars(limits.secretHostCharsMax, 1).regex(
  /^(?!-)[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)*(:[0-9]{1,5})?$/,
  "must be a host name, with an optional port",
)

/** The body of a secret. */
export const putSecretBody = z.object({
  value: text(limits.secretValueBytesMax).refine(
    (value) => new TextEncoder().encode(value).length <= limits.secretValueBytesMax,
    `must be at most ${limits.secretValueBytesMax} bytes`,
  ),
  hosts: list(host, limits.secretHostsMax, 1).nullable().optional(),
})

/** What a secret of a val is for. */
export const secretDescription = text(limits.secretDescriptionCharsMax).nullable()

/** The body of a secret of a val; a description that is left out stays. */
export const putValSecretBody = putSecretBody.extend({ description: secretDescription.optional() })

/** The query of a backup. */
export const backupQuery = z.object({ skipDamaged: booleanParam.optional() })

/** The body of a new user. */
export const createUserBody = z.object({
  username,
  email: email(limits.emailCharsMax).nullable().optional(),
})

/** The body of a change to one's profile. */
export const updateMeBody = z
  .object({
    bio: text(limits.bioCharsMax).nullable().optional(),
    email: email(limits.emailCharsMax).nullable().optional(),
  })
  .refine(
    (body) => Object.values(body).some((value) => value !== undefined),
    "must have at least one of bio, email",
  )
