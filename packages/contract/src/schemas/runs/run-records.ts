import { z } from "zod"
import { emailRecord, runEmail } from "../email.ts"
import { id, runSource, runStatus, time } from "../fields.ts"
import { branchMention, fileMention, runError, valMention } from "../records.ts"

/** The request that started a run of an http val. */
export const runRequest = z
  .object({ method: z.string(), url: z.string(), status: z.int().nullable() })
  .meta({ id: "RunRequest" })

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
    // 1, and one more for each time that it has failed and was attempted again.
    attempt: z.int().min(1),
    val: valMention,
    // The file that it started; null for code that is not saved, and for a file that is gone.
    file: fileMention.nullable(),
    // The branch of the file; `val.version` counts its versions.
    branch: branchMention.nullable(),
    // Null unless an HTTP request started it.
    request: runRequest.nullable(),
    // Null unless a mail started it.
    mail: z
      .object({
        from: z.string(),
        subject: z.string(),
        // Whether the val's owner sent it, to try the val.
        isTest: z.boolean(),
      })
      .nullable(),
    // The start of the last line that it has logged.
    lastLine: z.string().nullable(),
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

/** An outgoing request of a val. */
export const outgoingRequest = z
  .object({
    at: time,
    method: z.string(),
    url: z.string(),
    // Null if there was no response.
    status: z.int().nullable(),
    // Why it was blocked or aborted.
    blocked: z.string().nullable(),
    bytesSent: z.int().min(0),
    bytesReceived: z.int().min(0),
    durationMs: z.number().min(0),
  })
  .meta({ id: "OutgoingRequest" })

/** The outgoing requests of a run: all of them counted, the first of them listed. */
export const runEgress = z
  .object({
    requests: z.int().min(0),
    blocked: z.int().min(0),
    bytesSent: z.int().min(0),
    bytesReceived: z.int().min(0),
    list: z.array(outgoingRequest),
  })
  .meta({ id: "RunEgress" })

/** A log line with its run and its val. */
export const accountLog = z
  .object({
    runId: id,
    val: valMention,
    file: fileMention.nullable(),
    branch: branchMention.nullable(),
    line: logLine,
  })
  .meta({ id: "AccountLog" })

/** The log lines of the latest runs of an account, the oldest first. */
export const accountLogs = z.object({ data: z.array(accountLog) }).meta({ id: "AccountLogs" })

/** A request to a val, or its response, as a run keeps it: without credentials. */
export const runMessage = z
  .object({
    // Credentials are left out, or their value is `[removed]`.
    headers: z.array(z.tuple([z.string(), z.string()])),
    // Null if there was none, if it is not text, or if it is not kept.
    body: z.string().nullable(),
    // The size of the whole body; null if it is unknown.
    bytes: z.int().min(0).nullable(),
    isBinary: z.boolean(),
    // Whether the body goes on behind what is kept.
    isTruncated: z.boolean(),
  })
  .meta({ id: "RunMessage" })

/** A gap in the logs of a run: that many lines are left out behind the first `after` lines. */
export const logGap = z
  .object({ after: z.int().min(0), lines: z.int().min(1) })
  .meta({ id: "LogGap" })

/** A run with all its details. */
export const runDetail = run
  .extend({
    args: z.unknown(),
    returnValue: z.unknown(),
    logs: z.array(logLine),
    logsTruncated: z.boolean(),
    // The lines between the first and the last ones, of a log that is too long; null if there are
    // all of them.
    logsOmitted: logGap.nullable(),
    // The emails that it sent, up to the first hundred.
    emails: z.array(emailRecord),
    // The mail that started it; null if something else did.
    email: runEmail.nullable(),
    // What the val received and returned, for its owner. Null if it is not kept.
    requestContent: runMessage.nullable(),
    responseContent: runMessage.nullable(),
    // Null if it sent no requests.
    egress: runEgress.nullable(),
  })
  .meta({ id: "RunDetail" })

/** What a run has logged. */
export const runLogs = z
  .object({
    data: z.array(logLine),
    logsTruncated: z.boolean(),
    logsOmitted: logGap.nullable(),
  })
  .meta({ id: "RunLogs" })

/** Whether the run was still running; false if it had already ended. */
export const runCancellation = z.object({ found: z.boolean() }).meta({ id: "RunCancellation" })
