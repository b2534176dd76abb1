import { type ErrorCode, errorCodes, isRetryable, statusTexts } from "@hamlet/contract"
import { escapeHtml } from "@hamlet/contract/escape-html"
import { toOwnJson } from "@hamlet/kit"
import type { RunError } from "../../domain/runs/runs.ts"

/** An error that the gateway sends in place of a val's response. */
export interface ErrorPageContent {
  readonly code: ErrorCode
  readonly message: string
  /** The id of the run if there is one, else an id in the log. */
  readonly requestId: string
  readonly hasRun: boolean
  /** Only sent to the owner. */
  readonly runError?: RunError | undefined
  /** Sent as `retry-after` when the code is retryable. */
  readonly retrySeconds?: number | undefined
}

/**
 * JSON in the format of the API's errors, or an HTML page without scripts and without references to
 * other files, depending on `accept`.
 */
export function toErrorPage(page: ErrorPageContent, accept: string | undefined): Response {
  const { status } = errorCodes[page.code]
  const isJson = wantsJson(accept)
  const headers: Record<string, string> = {
    "content-type": isJson ? "application/json; charset=utf-8" : "text/html; charset=utf-8",
    "cache-control": "no-store",
    // Framing is allowed: the web app shows vals in frames, and the page has nothing to click on.
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    vary: "accept, authorization",
  }
  if (page.hasRun) headers["x-run-id"] = page.requestId
  if (page.retrySeconds !== undefined && isRetryable(page.code))
    headers["retry-after"] = String(page.retrySeconds)
  return new Response(isJson ? toJson(page, status) : toHtml(page, status), { status, headers })
}

function wantsJson(accept: string | undefined): boolean {
  return accept !== undefined && /[/+]json\b/i.test(accept) && !/text\/html/i.test(accept)
}

function toJson(page: ErrorPageContent, status: number): string {
  return toOwnJson({
    statusCode: status,
    error: statusTexts[status],
    code: page.code,
    message: page.message,
    requestId: page.requestId,
    ...(page.hasRun ? { runId: page.requestId } : {}),
    ...(page.runError ? { runError: page.runError } : {}),
  })
}

const style = [
  ":root{color-scheme:light dark}",
  "body{font:16px/1.5 system-ui,sans-serif;max-width:42rem;margin:12vh auto;padding:0 1.5rem}",
  "h1{font-size:1.4rem;margin:0 0 .5rem}",
  "pre{overflow:auto;padding:1rem;border:1px solid #8886;border-radius:6px;font-size:.85rem}",
  "small{color:#808080}",
].join("")

function toHtml(page: ErrorPageContent, status: number): string {
  const title = `${status} ${statusTexts[status] ?? ""}`
  const { runError } = page
  const details = runError
    ? `<pre>${escapeHtml(runError.stack ?? `${runError.name}: ${runError.message}`)}</pre>`
    : ""
  const run = page.hasRun ? `<p><small>Run ${escapeHtml(page.requestId)}</small></p>` : ""
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>${title}</title><style>${style}</style></head>`,
    `<body><h1>${title}</h1><p>${escapeHtml(page.message)}</p>${details}${run}</body></html>\n`,
  ].join("")
}
