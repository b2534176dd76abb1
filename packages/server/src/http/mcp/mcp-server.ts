import type { ErrorCode, Scope } from "@hamlet/contract"
import { ApiError } from "@hamlet/contract/client"
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import { z } from "zod"
import type { Caller } from "../../domain/access/caller.ts"
import type { Log } from "../ops/log.ts"
import { type McpTool, type ToolContext, ToolError, toolLimits } from "./tool.ts"
import { blobTools } from "./tools/blobs.ts"
import { branchTools } from "./tools/branches.ts"
import { changeValTools } from "./tools/change-vals.ts"
import { docTools } from "./tools/docs.ts"
import { fileTools } from "./tools/files.ts"
import { orgTools } from "./tools/orgs.ts"
import { runTools } from "./tools/runs.ts"
import { settingTools } from "./tools/settings.ts"
import { sqliteTools } from "./tools/sqlite.ts"
import { valTools } from "./tools/vals.ts"

/** One request of an assistant. */
export interface McpRequest extends ToolContext {
  readonly caller: Caller
  readonly requestId: string
  /** Whether only tools that change nothing are offered. */
  readonly isReadOnly: boolean
  readonly version: string
  readonly baseUrl: string
  readonly log: Pick<Log, "debug" | "info" | "error">
  /** The calls of a tool that acts for an owner; undefined for the caller as it is. */
  actFor(owner: string | undefined): Pick<ToolContext, "client" | "fetch" | "username">
}

/**
 * Handles one JSON-RPC message, of the current revision of the protocol or of an earlier one. The
 * library speaks both without sessions: each request has a server object of its own, so nothing is
 * kept between requests, and any node can handle any of them.
 */
export async function handleMessage(
  mcp: McpRequest,
  request: Request,
  message: unknown,
): Promise<Response> {
  const handler = createMcpHandler(() => createServer(mcp), {
    // The list of tools never changes, so there is nothing to subscribe to.
    maxSubscriptions: 0,
    onerror: (error) =>
      mcp.log.debug("mcp_refused", { requestId: mcp.requestId, error: error.message }),
  })
  return handler.fetch(request, { parsedBody: message })
}

function createServer(mcp: McpRequest): McpServer {
  const server = new McpServer(
    { name: "hamlet", title: "Hamlet", version: mcp.version, websiteUrl: mcp.baseUrl },
    {
      capabilities: { tools: { listChanged: false } },
      instructions: toInstructions(mcp),
      maxToolInputElements: toolLimits.inputElementsMax,
    },
  )
  for (const tool of listTools(mcp.caller.scopes, mcp.isReadOnly)) {
    const { name, title, description, effect, scopes } = tool
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: tool.input.extend(ownerArgument),
        outputSchema: tool.output,
        annotations: {
          title,
          readOnlyHint: effect === "read",
          destructiveHint: effect === "destroy",
          idempotentHint: effect === "read",
          // Code that runs may reach other servers.
          openWorldHint: scopes.includes("run:write"),
        },
      },
      (input, { mcpReq }) => callTool(mcp, tool, input, mcpReq.signal),
    )
  }
  return server
}

/** Every tool can act for an organisation. */
const ownerArgument = {
  owner: z
    .string()
    .regex(/^@?[\w-]{1,36}$/, "must be a name")
    .describe("The organisation to act for, see list_orgs; by default the user")
    .optional(),
}

function toInstructions({ caller, baseUrl, isReadOnly }: McpRequest): string {
  const { actorId, actorName, ownerId, ownerName } = caller
  const acting = ownerId === actorId ? "" : ` for the organisation ${ownerName}`
  return [
    `Hamlet hosts vals: small TypeScript modules that run on Deno in a sandbox. You act as user ${actorName}${acting} of ${baseUrl}.`,
    "A val of type http responds to web requests at its own address, a script is called with arguments, an interval runs on a schedule, an email val receives mail.",
    "Before you write your first val, call read_docs with page vals, and with page std for blob storage, a SQLite database, mail and language models.",
    isReadOnly
      ? "This connection is read-only: it can look at vals, runs, logs and data, and change nothing."
      : "To change a val: read_val, then edit_val with the version that you have read, then run_val or request_val to try it, and read_logs if it fails. A val may have more files and branches: list_files, read_file, edit_file, write_files.",
  ].join("\n")
}

/** Calls a tool, and logs who called it and how it ended. */
async function callTool(mcp: McpRequest, tool: McpTool, input: object, signal: AbortSignal) {
  const startedMs = performance.now()
  const { caller, requestId, log } = mcp
  const note = (outcome: string) =>
    log.info("tool_call", {
      requestId,
      tool: tool.name,
      outcome,
      user: caller.actorName,
      userId: caller.actorId,
      tokenId: caller.tokenId,
      ms: Math.round((performance.now() - startedMs) * 100) / 100,
    })
  try {
    // The library has validated the input with the schema of the tool.
    const { owner, ...rest } = input as { readonly owner?: string }
    const context = owner === undefined ? mcp : { ...mcp, ...mcp.actFor(owner.replace("@", "")) }
    const { data, text = JSON.stringify(data) } = await tool.run(context, rest as never)
    note("done")
    return {
      content: [{ type: "text" as const, text }],
      structuredContent: data as Record<string, unknown>,
    }
  } catch (error) {
    const text = toToolErrorText(error)
    note(text === undefined ? "internal" : "refused")
    if (text === undefined && !signal.aborted)
      log.error("internal", {
        requestId,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
    return {
      isError: true,
      content: [{ type: "text" as const, text: text ?? "Cannot respond: an internal error" }],
    }
  }
}

/** What an assistant can do about an error. Codes whose message says it already are missing. */
const advice: Partial<Readonly<Record<ErrorCode, string>>> = {
  version_conflict:
    "Call read_val, or list_files and read_file, to get the current version, then edit again",
  file_not_found: "Call list_files to see the paths",
  file_exists:
    "Call list_files to see the paths; change what is there with edit_file or write_files",
  branch_not_found: "Call list_branches to see the names",
  val_not_found: 'Name it as "username/name"; call search_vals or list_my_vals to find it',
  version_not_found: "Call list_versions to see which versions exist",
  run_not_found: "Call list_runs to see the runs of this account",
  blob_not_found: "Call list_blobs to see the keys",
  org_not_found: "Call list_orgs to see the organisations of the user",
  role_too_low: "Another member of the organisation has to do this",
  not_owner: "Only the owner of a val may change it; create a val of your own with create_val",
  name_taken: "Choose another name, or change the existing val with edit_val",
  not_http: "Only vals of type http have a web address; run this one with run_val",
  packages_pending: "The packages of this version are being installed; try again in a few seconds",
  rate_limited: "Wait before the next call",
  too_many_runs: "Wait until other runs have ended",
  missing_scope: "The user must give this assistant a token with that scope",
}

/** The text that an assistant gets for an error; undefined for a bug, which the caller logs. */
function toToolErrorText(error: unknown): string | undefined {
  if (error instanceof ToolError) return error.message
  if (!(error instanceof ApiError)) return undefined
  const issues = error.issues.map(({ path, message }) => `- ${path || "arguments"}: ${message}`)
  const hint = error.code === "unknown" ? undefined : advice[error.code]
  return [`${error.message} [${error.code}]`, ...issues, ...(hint ? [`${hint}.`] : [])].join("\n")
}

const tools: readonly McpTool[] = [
  ...valTools,
  ...changeValTools,
  ...fileTools,
  ...branchTools,
  ...runTools,
  ...settingTools,
  ...sqliteTools,
  ...blobTools,
  ...orgTools,
  ...docTools,
]

/** The tools that a token can use; in read-only mode, those that change nothing. */
export function listTools(scopes: ReadonlySet<Scope>, isReadOnly: boolean): readonly McpTool[] {
  return tools.filter(
    (tool) =>
      tool.scopes.every((scope) => scopes.has(scope)) && (!isReadOnly || tool.effect === "read"),
  )
}
