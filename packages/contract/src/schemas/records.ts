import { z } from "zod"
import { type ErrorCode, errorCodes } from "../errors.ts"
import {
  id,
  privacy,
  runSource,
  runStatus,
  scope,
  time,
  url,
  username,
  valName,
  valType,
} from "./fields.ts"

/** Who made a thing. */
export const author = z.object({ id, username }).meta({ id: "Author" })

/** A user as everybody sees them. */
export const user = z
  .object({
    id,
    username,
    bio: z.string().nullable(),
    profileImageUrl: z.string().nullable(),
    url,
    links: z.object({ self: url }),
    type: z.literal("user"),
    createdAt: time,
  })
  .meta({ id: "User" })

/** A user as they see themselves. */
export const profile = user
  .extend({ email: z.string().nullable(), tier: z.string().nullable() })
  .meta({ id: "Profile" })

/**
 * A val, the same shape on every route; a single version is a val whose code and version are that
 * version's.
 */
export const val = z
  .object({
    id,
    name: valName,
    version: z.int().min(1),
    code: z.string(),
    readme: z.string().nullable(),
    privacy,
    public: z.boolean(),
    type: valType,
    url,
    links: z.object({ self: url, versions: url, module: url, endpoint: url.optional() }),
    author,
    likeCount: z.int().min(0),
    referenceCount: z.int().min(0),
    createdAt: time,
    updatedAt: time,
    versionCreatedAt: time,
    runStartAt: time.nullable(),
    runEndAt: time.nullable(),
  })
  .meta({ id: "Val" })

/** What tells whether a val has changed, without its code. */
export const valState = z
  .object({ id, name: valName, version: z.int().min(1), privacy, type: valType, updatedAt: time })
  .meta({ id: "ValState" })

/**
 * The states of all vals of a user, by name; `hasMore` when they have more vals than one answer
 * tells of.
 */
export const valStates = z
  .object({ data: z.array(valState), hasMore: z.boolean() })
  .meta({ id: "ValStates" })

/** A version in the list of a val's versions. */
export const version = z
  .object({
    val_id: id,
    version: z.int().min(1),
    code: z.string(),
    createdAt: time,
    runStartAt: time.nullable(),
    runEndAt: time.nullable(),
  })
  .meta({ id: "Version" })

/** What a version imports from npm, JSR and other servers, resolved when it was saved. */
export const versionLock = z
  .object({
    // `none` when it imports nothing of the kind; `failed` when one of them has an error, which the
    // others do not suffer from.
    state: z.enum(["none", "pending", "ready", "failed"]),
    // While it is pending, those of the last attempt.
    imports: z.array(
      z.object({
        specifier: z.string(),
        // With its exact version, or the address that it was redirected to.
        resolved: z.string().nullable(),
        error: z.string().nullable(),
      }),
    ),
    updatedAt: time.nullable(),
  })
  .meta({ id: "VersionLock" })

/** A val as runs and comments mention it. */
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

/** A run in a list. */
export const run = z
  .object({
    id,
    parentId: id.nullable(),
    runStartAt: time,
    runEndAt: time.nullable(),
    error: runError.nullable(),
    source: runSource,
    status: runStatus,
    durationMs: z.number().min(0).nullable(),
    val: valMention,
  })
  .meta({ id: "Run" })

/** One line that a val logged. */
export const logLine = z
  .object({
    at: time,
    level: z.enum(["debug", "log", "info", "warn", "error"]),
    message: z.string(),
  })
  .meta({ id: "LogLine" })

/** The request that started a run of an http val. */
export const runRequest = z
  .object({ method: z.string(), url: z.string(), status: z.int().nullable() })
  .meta({ id: "RunRequest" })

/** A request that a val sent out. */
export const outgoingRequest = z
  .object({
    at: time,
    method: z.string(),
    url: z.string(),
    // Null when there was no answer.
    status: z.int().nullable(),
    // Why it was not let out, or was broken off.
    blocked: z.string().nullable(),
    bytesSent: z.int().min(0),
    bytesReceived: z.int().min(0),
    durationMs: z.number().min(0),
  })
  .meta({ id: "OutgoingRequest" })

/** What a run sent out: all requests counted, the first of them one by one. */
export const runEgress = z
  .object({
    requests: z.int().min(0),
    blocked: z.int().min(0),
    bytesSent: z.int().min(0),
    bytesReceived: z.int().min(0),
    list: z.array(outgoingRequest),
  })
  .meta({ id: "RunEgress" })

/** A run with everything that is kept of it. */
export const runDetail = run
  .extend({
    args: z.unknown(),
    returnValue: z.unknown(),
    logs: z.array(logLine),
    logsTruncated: z.boolean(),
    emails: z.array(z.unknown()),
    request: runRequest.nullable(),
    // Null when it has sent nothing out.
    egress: runEgress.nullable(),
  })
  .meta({ id: "RunDetail" })

type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** What a val returns: any JSON. */
export const returnValue = z.custom<Json>().meta({ description: "Any JSON" })

/** What a run has logged. */
export const runLogs = z
  .object({ data: z.array(logLine), logsTruncated: z.boolean() })
  .meta({ id: "RunLogs" })

/** What a val answered to a request that was sent through the API. */
export const valResponse = z
  .object({
    status: z.int(),
    statusText: z.string(),
    headers: z.array(z.tuple([z.string(), z.string()])),
    body: z.string(),
    // Whether the body is base64, since it is no text in UTF-8.
    isBase64: z.boolean(),
    // Whether there was more of it, or would have been.
    isTruncated: z.boolean(),
    durationMs: z.number().min(0),
    // Null when the request was turned away before it came to a run.
    runId: id.nullable(),
  })
  .meta({ id: "ValResponse" })

/** An address at which a browser can look at a val; null when it does not expire. */
export const preview = z.object({ url, expiresAt: time.nullable() }).meta({ id: "Preview" })

/** Whether there was something left to cancel: false when the run had ended before. */
export const runCancellation = z.object({ found: z.boolean() }).meta({ id: "RunCancellation" })

/** Whether the caller likes a val. */
export const like = z.object({ liked: z.boolean() }).meta({ id: "Like" })

/** What somebody said about a val. */
export const comment = z
  .object({ id, comment: z.string(), createdAt: time, author, val: valMention })
  .meta({ id: "Comment" })

/** One end of a reference. */
export const referenceEnd = z
  .object({ id, name: valName, username, author_id: id, author })
  .meta({ id: "ReferenceEnd" })

/** That the val `reference` imports the val `dependsOn`. */
export const reference = z
  .object({ referencedAt: time, reference: referenceEnd, dependsOn: referenceEnd })
  .meta({ id: "Reference" })

/** A token as its owner sees it in a list; the secret string is not kept. */
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

/** A new token: the only answer that ever has the secret string. */
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

/** A blob in a list, without its content. */
export const blob = z
  .object({ key: z.string(), size: z.int(), lastModified: time })
  .meta({ id: "Blob" })

/**
 * What the caller uses, and how much of it they may: null where there is no limit. What happens is
 * counted by each node for itself.
 */
export const usage = z
  .object({
    // When the node that answers began to count.
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
    blobs: z.object({ count: z.int().min(0), bytes: z.int().min(0), bytesMax: z.int() }),
    // Null when users have no databases on this server.
    sqlite: z.object({ bytes: z.int().min(0), bytesMax: z.int() }).nullable(),
  })
  .meta({ id: "Usage" })

/** A user who was just created, with their first token. */
export const newUser = user.extend({ token: z.string() }).meta({ id: "NewUser" })

/** The address of a page and of its neighbours; a neighbour that does not exist is absent. */
export const pageLinks = z
  .object({ self: url, next: url.optional(), prev: url.optional() })
  .meta({ id: "PageLinks" })

/** A page of a list. */
export function page<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), links: pageLinks })
}

/** The body of every error. */
export const errorBody = z
  .object({
    statusCode: z.int(),
    error: z.string(),
    code: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]),
    message: z.string(),
    requestId: z.string(),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    // Of a val that failed: which run it was, and to the val's owner its error as it was thrown.
    runId: id.optional(),
    runError: runError.optional(),
    // Of a statement that SQLite refused: its own name for the error, as `SQLITE_CONSTRAINT`.
    rawCode: z.string().optional(),
  })
  .meta({ id: "Error" })

/** Whether the process lives. */
export const health = z
  .object({ status: z.literal("ok"), version: z.string() })
  .meta({ id: "Health" })

/** Whether the server can do its work, and with which parts. */
export const readiness = z
  .object({
    status: z.literal("ok"),
    version: z.string(),
    database: z.string(),
    schemaVersion: z.int(),
    isolation: z.string(),
    // What an operator should know, in sentences.
    warnings: z.array(z.string()),
  })
  .meta({ id: "Readiness" })
