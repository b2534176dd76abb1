import { filePath, limits, runStatus, text } from "@hamlet/contract"
import type { Output } from "@hamlet/contract/client"
import { z } from "zod"
import { findValId, valArgument } from "../find-val.ts"
import { truncate } from "../text-pages.ts"
import { defineTool, ToolError, toolLimits } from "../tool.ts"
import { nextCursor, pageArguments, toNextCursor } from "../val-view.ts"

const runId = z.string().describe("For get_run and read_logs")
const logLine = z.object({ at: z.string(), level: z.string(), message: z.string() })
const runError = z
  .object({ name: z.string(), message: z.string(), stack: z.string().nullable() })
  .nullable()
  .describe("Why it failed; null if it did not")

const runSummary = z.object({
  runId,
  val: z.string().describe('"username/name" of the val'),
  version: z.int(),
  file: z.string().nullable().describe("The file that was started; null if it was deleted"),
  branch: z.string().nullable(),
  status: runStatus,
  source: z.string().describe("What started it: ui, api, http, interval or email"),
  startedAt: z.string(),
  durationMs: z.number().nullable().describe("Null while it runs"),
  error: runError,
})

const returned = {
  returnValue: z.string().describe("As JSON; its beginning if it is long"),
  isReturnValueTruncated: z.boolean(),
}

const runResult = runSummary.extend({
  ...returned,
  logs: z.array(logLine).describe("The last lines; read_logs returns all"),
  totalLogLines: z.int(),
  request: z
    .object({ method: z.string(), url: z.string(), status: z.int().nullable() })
    .nullable()
    .describe("The web request that started it"),
})

function toRunSummary(run: Output<"listMyRuns">["data"][number]): z.infer<typeof runSummary> {
  const { error } = run
  return {
    runId: run.id,
    val: `${run.val.author.username}/${run.val.name}`,
    version: run.val.version,
    file: run.file?.path ?? null,
    branch: run.branch?.name ?? null,
    status: run.status,
    source: run.source,
    startedAt: run.runStartAt,
    durationMs: run.durationMs,
    error: error && {
      name: error.name,
      message: truncate(error.message, toolLimits.valueCharsMax),
      stack: error.stack === undefined ? null : truncate(error.stack, toolLimits.valueCharsMax),
    },
  }
}

function toReturned(value: unknown) {
  const json = JSON.stringify(value) ?? "null"
  return {
    returnValue: truncate(json, toolLimits.valueCharsMax),
    isReturnValueTruncated: json.length > toolLimits.valueCharsMax,
  }
}

type LogLine = z.infer<typeof logLine>

/** Lines from an end of the log, as many as fit. */
function takeLines(lines: readonly LogLine[], countMax: number, from: "start" | "end"): LogLine[] {
  const taken: LogLine[] = []
  let chars = 0
  for (const { at, level, message } of from === "end" ? lines.toReversed() : lines) {
    const text = truncate(message, toolLimits.valueCharsMax)
    chars += text.length
    if (taken.length === countMax || (taken.length > 0 && chars > toolLimits.logCharsMax)) break
    taken.push({ at, level, message: text })
  }
  return from === "end" ? taken.toReversed() : taken
}

function toRunResult(run: Output<"getRun">): z.infer<typeof runResult> {
  return {
    ...toRunSummary(run),
    ...toReturned(run.returnValue),
    logs: takeLines(run.logs, toolLimits.logLinesDefault, "end"),
    totalLogLines: run.logs.length,
    request: run.request && {
      method: run.request.method,
      url: run.request.url,
      status: run.request.status,
    },
  }
}

const args = z
  .array(z.unknown())
  .max(limits.argsMax)
  .optional()
  .describe("The arguments of its function, any JSON")

const runVal = defineTool({
  name: "run_val",
  title: "Run a val",
  description:
    "Runs a val on your account with arguments and waits for its end. Returns what it returned and logged, and its error if it failed: that is a result, not a failure of this tool. For a val of type http use request_val.",
  scopes: ["run:write", "val:read"],
  effect: "destroy",
  input: z.object({
    val: valArgument,
    args,
    version: z.int().min(0).optional().describe("Without it, the current version"),
    file: filePath.optional().describe("The path of a file of it; without it, its entry file"),
    branch: text(limits.branchNameCharsMax, 1).optional().describe("Without it, main"),
  }),
  output: runResult,
  async run(context, { val, ...rest }) {
    const val_id = await findValId(context, val)
    return { data: toRunResult(await context.client.createRun({ val_id, ...rest })) }
  },
})

const runCode = defineTool({
  name: "run_code",
  title: "Run code once",
  description:
    "Runs TypeScript once without saving it, as a private val of yours, and waits for its end. Returns what its default export returned, what it logged, and its error if it failed: that is a result, not a failure of this tool.",
  scopes: ["run:write"],
  effect: "destroy",
  input: z.object({
    code: z.string().min(1).max(limits.codeCharsMax).describe("A TypeScript module"),
    args,
  }),
  output: runResult,
  async run({ fetch }, input) {
    const response = await fetch("/v1/eval", {
      method: "POST",
      headers: { "content-type": "application/json", prefer: "return=representation" },
      body: JSON.stringify(input),
    })
    if (!response.ok) {
      const { message } = (await response.json()) as { readonly message: string }
      throw new ToolError(message)
    }
    return { data: toRunResult((await response.json()) as Output<"getRun">) }
  },
})

const requestVal = defineTool({
  name: "request_val",
  title: "Send a request to a val",
  description:
    "Sends an HTTP request to a val of type http as you, private vals included, and returns its response. read_logs with the runId shows what it logged.",
  scopes: ["run:write", "val:read"],
  effect: "destroy",
  input: z.object({
    val: valArgument,
    method: z
      .string()
      .min(1)
      .max(limits.requestMethodCharsMax)
      .default("GET")
      .describe("The HTTP method"),
    path: z.string().max(limits.requestHeadCharsMax).default("/").describe("With its query"),
    headers: z.record(z.string(), z.string()).optional().describe("Header names and values"),
    body: z.string().optional().describe("Text; not for GET and HEAD"),
  }),
  output: z.object({
    status: z.int(),
    headers: z.array(z.array(z.string())).describe("Pairs of a name and a value"),
    body: z.string().describe("Its beginning if it is long"),
    isBase64: z.boolean().describe("Whether the body is base64, because it is not text"),
    isTruncated: z.boolean(),
    durationMs: z.number(),
    runId: z.string().nullable().describe("For get_run and read_logs"),
  }),
  async run(context, { val, ...request }) {
    const val_id = await findValId(context, val)
    const response = await context.client.sendValRequest({ val_id, ...request })
    const body = truncate(response.body, toolLimits.textCharsMax)
    const { status, headers, isBase64, durationMs, runId } = response
    const isTruncated = response.isTruncated || body.length < response.body.length
    return { data: { status, headers, body, isBase64, isTruncated, durationMs, runId } }
  },
})

const listRuns = defineTool({
  name: "list_runs",
  title: "List runs",
  description: "Lists runs on your account, newest first, of all vals or of one.",
  scopes: ["run:read", "val:read"],
  effect: "read",
  input: z.object({
    val: valArgument.optional(),
    error: z.boolean().optional().describe("true: only runs that failed; false: only others"),
    since: z.string().max(limits.timeCharsMax).optional().describe("After this time, ISO 8601"),
    ...pageArguments,
  }),
  output: z.object({ runs: z.array(runSummary), nextCursor }),
  async run(context, { val, ...query }) {
    const val_id = val === undefined ? undefined : await findValId(context, val)
    const { data, links } = await context.client.listMyRuns({ ...query, val_id })
    return { data: { runs: data.map(toRunSummary), nextCursor: toNextCursor(links) } }
  },
})

const runArgument = text(100, 1).describe("The id of the run")

const getRun = defineTool({
  name: "get_run",
  title: "Show a run",
  description: "Returns one run: status, return value, error with its stack, and its last logs.",
  scopes: ["run:read"],
  effect: "read",
  input: z.object({ runId: runArgument }),
  output: runResult,
  async run({ client }, { runId: run_id }) {
    return { data: toRunResult(await client.getRun({ run_id })) }
  },
})

const readLogs = defineTool({
  name: "read_logs",
  title: "Read the logs of a run",
  description: "Returns what a run has logged so far, in pages, oldest line first.",
  scopes: ["run:read"],
  effect: "read",
  input: z.object({
    runId: runArgument,
    fromLine: z.int().min(1).default(1).describe("The first line to return"),
    lines: z.int().min(1).max(toolLimits.logLinesMax).default(200).describe("How many at most"),
  }),
  output: z.object({
    lines: z.array(logLine),
    fromLine: z.int(),
    totalLines: z.int(),
    nextLine: z.int().nullable().describe("Pass it as fromLine; null at the end"),
    isTruncated: z.boolean().describe("Whether the server has dropped lines of a long log"),
  }),
  async run({ client }, { runId: run_id, fromLine, lines }) {
    const { data, logsTruncated } = await client.getRunLogs({ run_id })
    const taken = takeLines(data.slice(fromLine - 1), lines, "start")
    const next = fromLine + taken.length
    return {
      data: {
        lines: taken,
        fromLine,
        totalLines: data.length,
        nextLine: next <= data.length ? next : null,
        isTruncated: logsTruncated,
      },
    }
  },
})

/** Running vals, and what their runs did. */
export const runTools = [runVal, runCode, requestVal, listRuns, getRun, readLogs]
