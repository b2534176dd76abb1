import { type TemplateSource, toTemplateFile } from "../template.ts"

const mainTs = `import { serveFile } from "/std/utils"
import { toPage } from "./lib/page.ts"
import { addSignUp, countSeats } from "./lib/sign-ups.ts"
import { readForm } from "./lib/validate.ts"

const seats = 40

export default async function (request: Request): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname === "/style.css") return await serveFile("style.css")
  if (pathname !== "/") return new Response("Not found", { status: 404 })
  const left = seats - (await countSeats())
  if (request.method !== "POST") return respond({ left, isDone: searchParams.has("done") })
  const { values, problems } = readForm(await request.formData())
  if (values.seats > left) problems.seats = "Only " + left + " are left"
  if (Object.keys(problems).length > 0) return respond({ left, values, problems }, 400)
  if (!(await addSignUp(values)))
    return respond({ left, values, problems: { email: "This address has signed up already" } }, 409)
  // A reload of the next page does not send the form again.
  return new Response(null, { status: 303, headers: { location: "/?done" } })
}

function respond(content: Parameters<typeof toPage>[0], status = 200): Response {
  const headers = { "content-type": "text/html; charset=utf-8" }
  return new Response(toPage(content), { status, headers })
}
`

const libPageTs = `import type { SignUp } from "./sign-ups.ts"
import type { Problems } from "./validate.ts"

interface Content {
  left: number
  isDone?: boolean
  values?: SignUp
  problems?: Problems
}

/** The page: a note after a sign-up, or the form with what is wrong in it. */
export function toPage({ left, isDone = false, values, problems = {} }: Content): string {
  return \`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign up</title>
<link rel="stylesheet" href="/style.css">
<h1>Summer party</h1>
<p>\${left > 0 ? left + " seats are left." : "All seats are taken."}</p>
\${isDone ? "<p class=done>Thank you, see you there!</p>" : ""}
\${left > 0 && !isDone ? toForm(values, problems) : ""}\`
}

function toForm(values: SignUp | undefined, problems: Problems): string {
  return \`<form method="post">
\${toField("name", "Name", values?.name ?? "", "text", problems.name)}
\${toField("email", "Mail address", values?.email ?? "", "email", problems.email)}
\${toField("seats", "Seats", String(values?.seats ?? 1), "number", problems.seats)}
<button>Sign up</button>
</form>\`
}

function toField(name: string, label: string, value: string, type: string, problem = ""): string {
  const state = problem === "" ? "" : \` aria-invalid="true" aria-describedby="\${name}-problem"\`
  return \`<label>\${label}
  <input name="\${name}" type="\${type}" value="\${escape(value)}" required\${state}>
</label>
<p class=problem id="\${name}-problem">\${problem}</p>\`
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => \`&#\${char.charCodeAt(0)};\`)
}
`

const libValidateTs = `import type { SignUp } from "./sign-ups.ts"

/** What is wrong, by field. */
export type Problems = Partial<Record<keyof SignUp, string>>

/** Reads a form that may contain anything. */
export function readForm(form: FormData): { values: SignUp; problems: Problems } {
  const values = {
    name: read(form, "name", 80),
    email: read(form, "email", 254).toLowerCase(),
    seats: Number(read(form, "seats", 2)),
  }
  const problems: Problems = {}
  if (values.name === "") problems.name = "Write your name"
  if (!/^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$/.test(values.email)) problems.email = "Write a mail address"
  if (!Number.isInteger(values.seats) || values.seats < 1 || values.seats > 5)
    problems.seats = "Choose 1 to 5 seats"
  return { values, problems }
}

function read(form: FormData, name: string, charsMax: number): string {
  const value = form.get(name)
  return typeof value === "string" ? value.trim().slice(0, charsMax) : ""
}
`

const libSignUpsTs = `import { sqlite } from "/std/sqlite/main.ts"

/** What a visitor fills in. */
export interface SignUp {
  name: string
  email: string
  seats: number
}

// The database belongs to this val alone.
await sqlite.execute("create table if not exists sign_ups (email text primary key, name text, seats integer, at integer)")

/** False if the address has signed up before. */
export async function addSignUp({ name, email, seats }: SignUp): Promise<boolean> {
  const { rowsAffected } = await sqlite.execute(
    "insert into sign_ups values (?, ?, ?, ?) on conflict do nothing",
    [email, name, seats, Date.now()],
  )
  return rowsAffected === 1
}

export async function countSeats(): Promise<number> {
  const { rows } = await sqlite.execute("select coalesce(sum(seats), 0) as seats from sign_ups")
  return rows[0]?.seats ?? 0
}

export async function listSignUps(): Promise<(SignUp & { at: number })[]> {
  const { rows } = await sqlite.execute("select * from sign_ups order by at limit 10000")
  return rows.map((row) => ({ name: row.name, email: row.email, seats: row.seats, at: row.at }))
}

/** Deletes the sign-ups before a time, and returns how many there were. */
export async function deleteBefore(at: number): Promise<number> {
  return (await sqlite.execute("delete from sign_ups where at < ?", [at])).rowsAffected
}
`

const styleCss = `body { font: 17px/1.5 system-ui; max-width: 28rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
label { display: grid; gap: .2rem }
input, button { font: inherit; padding: .4rem .6rem }
[aria-invalid] { outline: 2px solid #c33 }
.problem { margin: .2rem 0 .6rem; min-height: 1.3em; font-size: .85em; color: #c33 }
.done { padding: .8rem 1rem; border-radius: .4rem; background: #3a83; }
`

const exportTs = `import { listSignUps } from "./lib/sign-ups.ts"

// A script: run it to get all sign-ups as a table for a spreadsheet.
export default async function (): Promise<string> {
  const rows = (await listSignUps()).map(({ name, email, seats, at }) =>
    [name, email, String(seats), new Date(at).toISOString()].map(toCell).join(","),
  )
  return ["name,email,seats,at", ...rows].join("\\r\\n")
}

/** A cell that begins like a formula would be run by the spreadsheet. */
function toCell(text: string): string {
  const safe = /^[=+\\-@\\t\\r]/.test(text) ? "'" + text : text
  return /[",\\r\\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe
}
`

const cleanupTs = `import { deleteBefore } from "./lib/sign-ups.ts"

const daysKept = 180

// Runs each night: data is deleted when it is no longer needed.
export default async function (): Promise<string> {
  const count = await deleteBefore(Date.now() - daysKept * 86_400_000)
  return count + " sign-ups deleted"
}
`

const readmeMd = `# Sign-up form

A form that checks what it gets, a database, and two helpers around it.

| file | what it is for |
|---|---|
| \`main.ts\` | the web address: shows the form and takes what is sent |
| \`lib/page.ts\` | the page; everything that visitors wrote is escaped |
| \`lib/validate.ts\` | reads and checks a form |
| \`lib/sign-ups.ts\` | the table in the database of this val |
| \`style.css\` | the style |
| \`export.ts\` | a script: all sign-ups as CSV |
| \`cleanup.ts\` | deletes old sign-ups each night |

Change the title in \`lib/page.ts\` and the number of seats in \`main.ts\`.
`

/** A form with SQLite, an export and a clean-up. */
export const signUpForm: TemplateSource = {
  name: "sign_up",
  privacy: "unlisted",
  files: [
    toTemplateFile("main.ts", mainTs, "http"),
    toTemplateFile("lib/page.ts", libPageTs),
    toTemplateFile("lib/validate.ts", libValidateTs),
    toTemplateFile("lib/sign-ups.ts", libSignUpsTs),
    toTemplateFile("style.css", styleCss),
    toTemplateFile("export.ts", exportTs, "script"),
    toTemplateFile("cleanup.ts", cleanupTs, "interval"),
    toTemplateFile("README.md", readmeMd),
  ],
  schedules: [{ file: "cleanup.ts", cron: "30 3 * * *" }],
}
