import { z } from "zod"
import { type ErrorCode, errorCodes } from "../errors.ts"
import { id, privacy, scope, time, url, username, valName, valType } from "./fields.ts"

/** The author of a record. */
export const author = z.object({ id, username }).meta({ id: "Author" })

/** A user, as seen by others. */
export const user = z
  .object({
    id,
    username,
    bio: z.string().nullable(),
    profileImageUrl: z.string().nullable(),
    url,
    links: z.object({ self: url }),
    type: z.enum(["user", "org"]),
    createdAt: time,
  })
  .meta({ id: "User" })

/** A user, as seen by themselves. */
export const profile = user
  .extend({
    email: z.string().nullable(),
    // Whether the user has confirmed the address, or an administrator has set it. Mail to the user
    // goes only to such an address.
    emailVerified: z.boolean(),
    tier: z.string().nullable(),
  })
  .meta({ id: "Profile" })

/** The caller's own profile. */
export const me = profile
  .extend({
    // What the token of the request may do.
    scopes: z.array(scope),
    actor: author
      .describe("The person who acts; only where the caller acts for an organisation")
      .optional(),
  })
  .meta({ id: "Me" })

/** The val that a val is a copy of, and the version that was copied. */
export const forkOrigin = z
  .object({ id, name: valName, version: z.int().min(0), author })
  .meta({ id: "ForkOrigin" })

/**
 * A val, in the same shape on every route; a single version is a val with that version's code and
 * number.
 */
export const val = z
  .object({
    id,
    name: valName,
    description: z.string().nullable().describe("One line of its owner about it"),
    // Only a val with an image has this field.
    imageUrl: z.string().optional(),
    // The version is 0 until the val gets a file.
    version: z.int().min(0),
    // The code of the entry file; empty if there is none.
    code: z.string(),
    readme: z.string().nullable(),
    summary: z
      .string()
      .describe("One line that says what it is: the first text of its readme, else of its code"),
    privacy,
    public: z.boolean(),
    type: valType,
    url,
    links: z.object({ self: url, versions: url, module: url, endpoint: url.optional() }),
    // A val of type `email` has an address on a server that receives mail.
    emailAddress: z.string().optional(),
    author,
    likeCount: z.int().min(0),
    referenceCount: z.int().min(0),
    // Public forks only.
    forkCount: z.int().min(0),
    files: z.int().min(0).describe("How many files its branch main has"),
    branchCount: z.int().min(1),
    // Null if it is no fork, or the original was deleted or is hidden from the caller.
    forkedFrom: forkOrigin.nullable(),
    createdAt: time,
    updatedAt: time,
    versionCreatedAt: time,
    runStartAt: time.nullable(),
    runEndAt: time.nullable(),
  })
  .meta({ id: "Val" })

/** A val that a search has found. */
export const foundVal = val
  .extend({
    file: z
      .string()
      .nullable()
      .describe("The path of a file with the text; null if its name or description has it"),
  })
  .meta({ id: "FoundVal" })

/** The state of a val without its code, to detect changes. */
export const valState = z
  .object({ id, name: valName, version: z.int().min(0), privacy, type: valType, updatedAt: time })
  .meta({ id: "ValState" })

/** The states of all vals of a user, by name; `hasMore` if one response cannot hold them all. */
export const valStates = z
  .object({ data: z.array(valState), hasMore: z.boolean() })
  .meta({ id: "ValStates" })

/** A version in the list of a val's versions. */
export const version = z
  .object({
    val_id: id,
    version: z.int().min(0),
    code: z.string(),
    createdAt: time,
    // What its author has said about it.
    note: z.string().nullable(),
    author: author
      .nullable()
      .describe("The person who saved it; null if that is not known, or the account was deleted"),
    runStartAt: time.nullable(),
    runEndAt: time.nullable(),
  })
  .meta({ id: "Version" })

/** The imports of a version from npm, JSR and other servers, resolved when it was saved. */
export const versionLock = z
  .object({
    // `none` if it has no such imports; `failed` if one of them has an error, which does not affect
    // the others.
    state: z.enum(["none", "pending", "ready", "failed"]),
    // While pending, those of the last attempt.
    imports: z.array(
      z.object({
        specifier: z.string(),
        // With its exact version, or the URL it was redirected to.
        resolved: z.string().nullable(),
        error: z.string().nullable(),
      }),
    ),
    warnings: z.array(z.string()),
    updatedAt: time.nullable(),
  })
  .meta({ id: "VersionLock" })

/** A file of a val, where it is or was last. */
export const fileMention = z.object({ id, path: z.string() })

/** A branch of a val. */
export const branchMention = z.object({ id, name: z.string() })

/** A val, as runs and comments refer to it. */
export const valMention = z
  .object({
    id,
    name: valName,
    version: z.int().min(0),
    privacy,
    public: z.boolean(),
    author,
    author_id: id,
    username,
  })
  .meta({ id: "ValMention" })

/** Why a run failed. */
export const runError = z
  .object({ name: z.string(), message: z.string(), stack: z.string().optional() })
  .meta({ id: "RunError" })

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** What a val returns: any JSON. */
export const returnValue = z.custom<Json>().meta({ description: "Any JSON" })

/** The response of a val to a request that was sent through the API. */
export const valResponse = z
  .object({
    status: z.int(),
    statusText: z.string(),
    headers: z.array(z.tuple([z.string(), z.string()])),
    body: z.string(),
    // Whether the body is base64, because it is not UTF-8.
    isBase64: z.boolean(),
    // Whether the body was truncated.
    isTruncated: z.boolean(),
    durationMs: z.number().min(0),
    // Null if the request was refused before a run started.
    runId: id.nullable(),
  })
  .meta({ id: "ValResponse" })

/** A URL at which a browser can open a val; `expiresAt` is null if it does not expire. */
export const preview = z.object({ url, expiresAt: time.nullable() }).meta({ id: "Preview" })

/** Whether the caller likes a val. */
export const like = z.object({ liked: z.boolean() }).meta({ id: "Like" })

/** A comment on a val. */
export const comment = z
  .object({ id, comment: z.string(), createdAt: time, author, val: valMention })
  .meta({ id: "Comment" })

/** One end of a reference. */
export const referenceEnd = z
  .object({ id, name: valName, username, author_id: id, author })
  .meta({ id: "ReferenceEnd" })

/** The val `reference` imports the val `dependsOn`. */
export const reference = z
  .object({ referencedAt: time, reference: referenceEnd, dependsOn: referenceEnd })
  .meta({ id: "Reference" })

/** A token in a list; the secret string is not stored. */
export const token = z
  .object({
    id,
    name: z.string(),
    scopes: z.array(scope),
    createdAt: time,
    expiresAt: time.nullable(),
    lastUsedAt: time.nullable(),
  })
  .meta({ id: "Token" })

/** A new token; only this response contains the secret string. */
export const newToken = token.extend({ token: z.string() }).meta({ id: "NewToken" })

/** A secret without its value. */
export const secret = z
  .object({
    name: z.string(),
    hosts: z.array(z.string()).nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: "Secret" })

/** A secret of a val, without its value. */
export const valSecret = secret
  .extend({ description: z.string().nullable() })
  .meta({ id: "ValSecret" })

/** A blob in a list, without its content. */
export const blob = z
  .object({ key: z.string(), size: z.int(), lastModified: time })
  .meta({ id: "Blob" })

/** Usage and limits; null means unlimited. What has a limit is counted on all nodes together. */
export const usage = z
  .object({
    // When the responding node started to count.
    countedSince: time,
    runs: z.object({
      lastMinute: z.int().min(0),
      sinceStart: z.int().min(0),
      perMinuteMax: z.int().nullable(),
      atOnce: z.int().min(0),
      atOnceMax: z.int(),
    }),
    egress: z.object({
      bytesLastMinute: z.int().min(0),
      bytesSinceStart: z.int().min(0),
      bytesPerMinuteMax: z.int().nullable(),
    }),
    storage: z.object({
      requestsLastMinute: z.int().min(0),
      requestsSinceStart: z.int().min(0),
      requestsPerMinuteMax: z.int().nullable(),
    }),
    code: z
      .object({ vals: z.int().min(0), bytes: z.int().min(0) })
      .describe("The vals of the user, and the texts of all their branches and versions"),
    blobs: z.object({ count: z.int().min(0), bytes: z.int().min(0), bytesMax: z.int() }),
    // Null if users have no databases on this server.
    sqlite: z.object({ bytes: z.int().min(0), bytesMax: z.int() }).nullable(),
    // Emails in 24 hours, each recipient counted. Null if the server sends none.
    mail: z
      .object({
        recipientsLastDay: z.int().min(0),
        recipientsPerDayMax: z.int().nullable(),
        bytesLastDay: z.int().min(0),
        bytesPerDayMax: z.int().nullable(),
      })
      .nullable(),
  })
  .meta({ id: "Usage" })

/** A new user, with their first token. */
export const newUser = user.extend({ token: z.string() }).meta({ id: "NewUser" })

/** The URLs of a page and its neighbours, where they exist. */
export const pageLinks = z
  .object({ self: url, next: url.optional(), prev: url.optional() })
  .meta({ id: "PageLinks" })

/** A page of a list. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), links: pageLinks })
}

/** A path about which a merge needs a decision. */
const mergeConflict = z
  .object({
    path: z.string(),
    base: z.string().nullable(),
    ours: z.string().nullable(),
    theirs: z.string().nullable(),
  })
  .meta({ id: "MergeConflict" })

/** The body of every error. */
export const errorBody = z
  .object({
    statusCode: z.int(),
    error: z.string(),
    code: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    requestId: z.string(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    // For a failed val: its run, and for the val's owner the original error.
    runId: id.optional(),
    runError: runError.optional(),
    // For a refused SQL statement: SQLite's error name, such as `SQLITE_CONSTRAINT`.
    rawCode: z.string().optional(),
    // For a merge with conflicts: the texts of the first ones, null where there is no file, how many
    // there are, and the versions that have these texts.
    conflicts: z.array(mergeConflict).optional(),
    conflictCount: z.int().optional(),
    version: z.int().optional(),
    sourceVersion: z.int().optional(),
  })
  .meta({ id: "Error" })

/** Whether the process is alive. */
export const health = z
  .object({ status: z.literal("ok"), version: z.string() })
  .meta({ id: "Health" })

/** Whether the server is ready, and its main settings. */
export const readiness = z
  .object({
    status: z.literal("ok"),
    version: z.string(),
    database: z.string(),
    schemaVersion: z.int(),
    isolation: z.string(),
    // Notes for the operator, in sentences.
    warnings: z.array(z.string()),
  })
  .meta({ id: "Readiness" })
