import { type TemplateSource, toTemplateFile } from "../template.ts"

const mainTs = `import { serveFile } from "/std/utils"
import { handleItems } from "./api/items.ts"

// The address of this val has the API and the files that the browser loads. A browser gets
// TypeScript as JavaScript.
export default async function (request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith("/api/items")) return await handleItems(request)
  if (pathname === "/") return await serveFile("client/index.html")
  if (!folders.some((folder) => pathname.startsWith(folder))) return notFound()
  try {
    return await serveFile(pathname)
  } catch {
    return notFound()
  }
}

/** What browsers may load. */
const folders = ["/client/", "/shared/"]

function notFound(): Response {
  return new Response("Not found", { status: 404 })
}
`

const apiItemsTs = `import { sqlite } from "/std/sqlite/main.ts"
import { findProblem, type Item } from "../shared/item.ts"

// The database belongs to this val alone.
await sqlite.execute("create table if not exists items (id integer primary key, name text, done integer default 0)")

/** GET lists, POST adds, PUT changes and DELETE removes items. */
export async function handleItems(request: Request): Promise<Response> {
  const id = Number(new URL(request.url).pathname.split("/")[3])
  if (request.method === "POST") return await add(await readJson(request))
  if (request.method === "PUT") {
    const { isDone } = await readJson(request)
    await sqlite.execute("update items set done = ? where id = ?", [isDone === true, id])
  } else if (request.method === "DELETE") await sqlite.execute("delete from items where id = ?", [id])
  return Response.json(await list())
}

async function add({ name }: { name?: unknown }): Promise<Response> {
  const text = typeof name === "string" ? name.trim() : ""
  const problem = findProblem(text)
  if (problem !== undefined) return Response.json({ problem }, { status: 400 })
  await sqlite.execute("insert into items (name) values (?)", [text])
  return Response.json(await list(), { status: 201 })
}

async function list(): Promise<Item[]> {
  const { rows } = await sqlite.execute("select * from items order by done, id limit 200")
  return rows.map((row) => ({ id: row.id, name: row.name, isDone: row.done === 1 }))
}

/** What is not an object in JSON counts as an empty one. */
async function readJson(request: Request): Promise<Record<string, unknown>> {
  const body = await request.json().catch(() => null)
  return typeof body === "object" && body !== null ? body : {}
}
`

const sharedItemTs = `/** What the page and the API exchange. */
export interface Item {
  id: number
  name: string
  isDone: boolean
}

/** Why an item cannot have this name. The page and the API use the same rule. */
export function findProblem(name: string): string | undefined {
  if (name.trim() === "") return "Write what you need"
  return name.length > 80 ? "Use at most 80 characters" : undefined
}
`

const clientIndexHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Shopping list</title>
    <link rel="stylesheet" href="/client/style.css">
    <script type="module" src="/client/app.ts"></script>
  </head>
  <body>
    <h1>Shopping list</h1>
    <form>
      <input aria-label="What do you need?" placeholder="What do you need?" autocomplete="off" autofocus>
      <button disabled>Add</button>
    </form>
    <p role="alert"></p>
    <ul></ul>
  </body>
</html>
`

const clientAppTs = `// Runs in the browser.
import { findProblem, type Item } from "../shared/item.ts"

const form = document.querySelector("form")!
const input = document.querySelector("input")!
const add = document.querySelector("button")!
const list = document.querySelector("ul")!
const note = document.querySelector("[role=alert]")!

async function send(method: string, path = "", body?: object): Promise<void> {
  const response = await fetch("/api/items" + path, { method, body: body && JSON.stringify(body) })
  const result = await response.json()
  if (response.ok) show(result)
  else note.textContent = result.problem
}

function show(items: Item[]): void {
  list.replaceChildren(...items.map(toRow))
}

function toRow({ id, name, isDone }: Item): HTMLElement {
  const row = document.createElement("li")
  const label = document.createElement("label")
  const box = document.createElement("input")
  box.type = "checkbox"
  box.checked = isDone
  box.onchange = () => send("PUT", "/" + id, { isDone: box.checked })
  label.append(box, name)
  const remove = document.createElement("button")
  remove.textContent = "×"
  remove.setAttribute("aria-label", "Remove " + name)
  remove.onclick = () => send("DELETE", "/" + id)
  row.append(label, remove)
  return row
}

form.onsubmit = async (event) => {
  event.preventDefault()
  const problem = findProblem(input.value)
  note.textContent = problem ?? ""
  if (problem !== undefined) return
  await send("POST", "", { name: input.value })
  input.value = ""
}
// From now on, this code handles the form.
add.disabled = false

await send("GET")
`

const clientStyleCss = `body { font: 17px/1.5 system-ui; max-width: 30rem; margin: 3rem auto; padding: 0 1rem; color-scheme: light dark }
form { display: flex; gap: .5rem }
form input { flex: 1 }
input, button { font: inherit; padding: .4rem .7rem }
ul { padding: 0; list-style: none }
li { display: flex; justify-content: space-between; align-items: center; padding: .3rem 0; border-bottom: 1px solid #8884 }
label { display: flex; align-items: center; gap: .6rem; overflow-wrap: anywhere }
label:has(:checked) { text-decoration: line-through; opacity: .6 }
li button { border: 0; background: none; cursor: pointer }
[role=alert] { color: #c33; min-height: 1.5em; margin: .4rem 0 }
`

const readmeMd = `# Shopping list

A page, the code that runs in the browser, and an API, in one val.

| file | what it is for |
|---|---|
| \`main.ts\` | the web address: sends requests to the API or serves a file |
| \`api/items.ts\` | the API, with a database of its own |
| \`shared/item.ts\` | types and rules that the page and the API share |
| \`client/\` | what the browser loads |

To add a page, add a file in \`client/\`. To add a route, add a file in \`api/\` and a line in \`main.ts\`.
`

/** A page with client code and an API. */
export const pageWithApi: TemplateSource = {
  name: "shopping_list",
  privacy: "unlisted",
  files: [
    toTemplateFile("main.ts", mainTs, "http"),
    toTemplateFile("api/items.ts", apiItemsTs),
    toTemplateFile("shared/item.ts", sharedItemTs),
    toTemplateFile("client/index.html", clientIndexHtml),
    toTemplateFile("client/app.ts", clientAppTs),
    toTemplateFile("client/style.css", clientStyleCss),
    toTemplateFile("README.md", readmeMd),
  ],
}
