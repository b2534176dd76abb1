import type { IconName } from "../../ui/icon.tsx"
import type { ValFile } from "../archive/select-files.ts"
import { toTemplateFile } from "./template.ts"

/** A file to add to a val. Its path is a suggestion. */
export interface FileTemplate extends ValFile {
  readonly title: string
  readonly summary: string
  readonly icon: IconName
}

/** The files to start from. They are small: each shows what its trigger gives and takes. */
export const fileTemplates: readonly FileTemplate[] = [
  {
    title: "Module",
    summary: "Functions for other files",
    icon: "file",
    ...toTemplateFile(
      "lib/helper.ts",
      "export function add(one: number, other: number): number {\n  return one + other\n}\n",
    ),
  },
  {
    title: "HTTP",
    summary: "Responds at a web address of its own",
    icon: "http",
    ...toTemplateFile(
      "page.http.ts",
      `export default async function (request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  return Response.json({ pathname })
}
`,
    ),
  },
  {
    title: "Interval",
    summary: "Runs on a schedule",
    icon: "timer",
    ...toTemplateFile(
      "nightly.cron.ts",
      `export default async function (interval: Interval) {
  console.log("last run at", interval.lastRunAt)
}
`,
    ),
  },
  {
    title: "Email",
    summary: "Runs when a mail arrives at its address",
    icon: "mail",
    ...toTemplateFile(
      "inbox.email.ts",
      `export default async function (email: Email) {
  console.log(email.from, "wrote", email.subject)
}
`,
    ),
  },
  {
    title: "Script",
    summary: "Runs on demand, with arguments",
    icon: "script",
    ...toTemplateFile(
      "script.ts",
      `export default function (name = "world") {
  console.log("Hello,", name)
  return { name }
}
`,
    ),
  },
  {
    title: "React page",
    summary: "Components, rendered on the server",
    icon: "package",
    ...toTemplateFile(
      "app.http.tsx",
      `/** @jsxImportSource npm:react@19 */
import { renderToString } from "npm:react-dom@19/server"

function App({ name }: { name: string }) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Hello</title>
      </head>
      <body>
        <h1>Hello, {name}</h1>
      </body>
    </html>
  )
}

export default function (request: Request): Response {
  const name = new URL(request.url).searchParams.get("name") ?? "world"
  return new Response("<!doctype html>" + renderToString(<App name={name} />), {
    headers: { "content-type": "text/html; charset=utf-8" },
  })
}
`,
    ),
  },
  {
    title: "Database",
    summary: "A table in the database of this val",
    icon: "data",
    ...toTemplateFile(
      "lib/db.ts",
      `import { sqlite } from "/std/sqlite/main.ts"

await sqlite.execute("create table if not exists notes (id integer primary key, text text, at integer)")

export async function addNote(text: string): Promise<void> {
  await sqlite.execute("insert into notes (text, at) values (?, ?)", [text, Date.now()])
}

export async function listNotes(count = 50) {
  const { rows } = await sqlite.execute("select * from notes order by id desc limit ?", [count])
  return rows.map(({ id, text, at }) => ({ id, text, at }))
}
`,
    ),
  },
  {
    title: "HTML",
    summary: "A page that a file of type HTTP serves",
    icon: "file",
    ...toTemplateFile(
      "public/index.html",
      `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Hello</title>
  </head>
  <body>
    <h1>Hello</h1>
  </body>
</html>
`,
    ),
  },
  {
    title: "JSON",
    summary: "Data that code imports",
    icon: "file",
    ...toTemplateFile(
      "data/samples.json",
      `[
  { "id": 1, "name": "Ada", "isActive": true },
  { "id": 2, "name": "Grace", "isActive": false }
]
`,
    ),
  },
  {
    title: "Readme",
    summary: "Shown on the page of the val",
    icon: "readme",
    ...toTemplateFile("README.md", "# What it does\n\nOne sentence for those who find this val.\n"),
  },
]
