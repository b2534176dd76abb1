import { type TemplateSource, toTemplateFile } from "../template.ts"

const mainTs = `import { listReports } from "./lib/history.ts"
import { renderReports } from "./lib/render.ts"

// The page with the latest reports. report.ts writes them.
export default async function (): Promise<Response> {
  return new Response(renderReports(await listReports(30)), {
    headers: { "content-type": "text/html; charset=utf-8" },
  })
}
`

const reportTs = `import { email } from "/std/email"
import { collect } from "./lib/collect.ts"
import { keepReport, listReports } from "./lib/history.ts"
import { toHtml, toText } from "./lib/render.ts"

// Runs each morning. "Run now" makes a report at once.
export default async function () {
  const [before] = await listReports(1)
  const report = await collect()
  await keepReport(report)
  const text = toText(report, before)
  console.log(text)
  try {
    await email({ subject: "Your vals: " + report.runs + " runs", text, html: toHtml(report, before) })
  } catch (error) {
    // The server may send no mail, or your address is not confirmed: the page has the report.
    console.warn(String(error))
  }
  return text
}
`

const libCollectTs = `/** The numbers of one day. */
export interface Report {
  at: number
  runs: number
  errors: number
  medianMs: number
}

/** Counts the runs of your account since yesterday. Replace it with what you want to know. */
export async function collect(): Promise<Report> {
  const response = await fetch(Deno.env.get("HAMLET_URL") + "/v1/me/stats", {
    headers: { authorization: "Bearer " + Deno.env.get("HAMLET_TOKEN") },
  })
  if (!response.ok) throw new Error("the server responded " + response.status)
  const { total } = await response.json()
  return {
    at: Date.now(),
    runs: total.runs,
    errors: total.errors,
    medianMs: Math.round(total.p50Ms ?? 0),
  }
}
`

const libHistoryTs = `import { sqlite } from "/std/sqlite/main.ts"
import type { Report } from "./collect.ts"

await sqlite.execute("create table if not exists reports (at integer primary key, runs integer, errors integer, median_ms integer)")

/** Keeps a report, and those of the last year. */
export async function keepReport({ at, runs, errors, medianMs }: Report): Promise<void> {
  await sqlite.batch([
    { sql: "insert or replace into reports values (?, ?, ?, ?)", args: [at, runs, errors, medianMs] },
    { sql: "delete from reports where at < ?", args: [at - 366 * 86_400_000] },
  ])
}

/** The latest reports, newest first. */
export async function listReports(count: number): Promise<Report[]> {
  const { rows } = await sqlite.execute("select * from reports order by at desc limit ?", [count])
  return rows.map((row) => ({
    at: row.at,
    runs: row.runs,
    errors: row.errors,
    medianMs: row.median_ms,
  }))
}
`

const libRenderTs = `import type { Report } from "./collect.ts"

/** One report in a few lines, with the change since the one before. */
export function toText(report: Report, before?: Report): string {
  return [
    "Since yesterday: " + report.runs + " runs" + toChange(report.runs, before?.runs),
    report.errors + " failed" + toChange(report.errors, before?.errors),
    "half of them took less than " + report.medianMs + " ms",
  ].join("\\n")
}

function toChange(now: number, before: number | undefined): string {
  if (before === undefined || before === now) return ""
  return " (" + (now > before ? "+" : "−") + Math.abs(now - before) + ")"
}

/** The report for a mail. Every value is a number, so nothing needs to be escaped. */
export function toHtml(report: Report, before?: Report): string {
  return "<p>" + toText(report, before).replaceAll("\\n", "<br>") + "</p>"
}

/** A page with reports. */
export function renderReports(reports: Report[]): string {
  const rows = reports.map(
    ({ at, runs, errors, medianMs }) =>
      \`<tr><td>\${new Date(at).toISOString().slice(0, 16).replace("T", " ")}<td>\${runs}<td>\${errors}<td>\${medianMs} ms\`,
  )
  return \`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Reports</title>
<style>
  body { font: 17px/1.5 system-ui; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }
  table { width: 100%; border-collapse: collapse; text-align: left }
  th, td { padding: .4rem .6rem .4rem 0; border-bottom: 1px solid #8884 }
</style>
<h1>Reports</h1>
\${rows.length === 0 ? "<p>There is none yet. Run <code>report.ts</code>, or wait until tomorrow morning.</p>" : ""}
<table><tr><th>Time (UTC)<th>Runs<th>Failed<th>Median\${rows.join("")}</table>\`
}
`

const readmeMd = `# Reports

A report each morning: by mail, and on a page.

| file | what it is for |
|---|---|
| \`report.ts\` | runs on a schedule: collects, keeps and mails a report |
| \`main.ts\` | the page with the latest reports |
| \`lib/collect.ts\` | where the numbers come from: change this one first |
| \`lib/history.ts\` | keeps them in the database of this val |
| \`lib/render.ts\` | the mail and the page |

The schedule of \`report.ts\` is 7:00 in your time zone; the tab Schedule changes it. Mail goes to the
confirmed address of your account.
`

/** A scheduled report with mail. */
export const scheduledReport: TemplateSource = {
  name: "reports",
  privacy: "unlisted",
  files: [
    toTemplateFile("main.ts", mainTs, "http"),
    toTemplateFile("report.ts", reportTs, "interval"),
    toTemplateFile("lib/collect.ts", libCollectTs),
    toTemplateFile("lib/history.ts", libHistoryTs),
    toTemplateFile("lib/render.ts", libRenderTs),
    toTemplateFile("README.md", readmeMd),
  ],
  schedules: [{ file: "report.ts", cron: "0 7 * * *" }],
}
