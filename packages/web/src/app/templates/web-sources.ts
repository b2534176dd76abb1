import { type TemplateSource, toOnlyFile } from "./template.ts"

const page = `// An HTTP val is a function from a Request to a Response.
export default function (request: Request): Response {
  const name = new URL(request.url).searchParams.get("name") ?? "world"
  console.log("request for", name)
  const html = \`<!doctype html>
<meta name="viewport" content="width=device-width">
<title>Hello</title>
<style>body { font: 18px/1.5 system-ui; max-width: 36rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>Hello, \${escape(name)}!</h1>
<p>It is \${new Date().toLocaleTimeString()} where this val runs.</p>
<p>Add <a href="?name=Ada">?name=Ada</a> to the address.</p>\`
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } })
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => \`&#\${char.charCodeAt(0)};\`)
}
`

const chat = `// Each open page has a WebSocket. A message goes to all of them.
const sockets = new Set<WebSocket>()
const recent: string[] = []

export default function (request: Request): Response {
  if (request.headers.get("upgrade") !== "websocket")
    return new Response(page, { headers: { "content-type": "text/html; charset=utf-8" } })
  const { socket, response } = Deno.upgradeWebSocket(request)
  socket.onopen = () => {
    sockets.add(socket)
    for (const message of recent) socket.send(message)
  }
  socket.onmessage = ({ data }) => {
    const message = String(data).slice(0, 500)
    recent.push(message)
    if (recent.length > 50) recent.shift()
    for (const other of sockets) if (other.readyState === WebSocket.OPEN) other.send(message)
  }
  socket.onclose = () => sockets.delete(socket)
  return response
}

const page = \`<!doctype html>
<meta name="viewport" content="width=device-width">
<title>Chat</title>
<style>
  body { font: 16px/1.5 system-ui; max-width: 36rem; margin: 2rem auto; padding: 0 1rem }
  li { margin: .3rem 0; overflow-wrap: anywhere }
  form { display: flex; gap: .5rem }
  input { flex: 1; font: inherit; padding: .4rem .6rem }
</style>
<h1>Chat</h1>
<p id="state">Connecting…</p>
<ul id="messages"></ul>
<form><input id="text" aria-label="Message" maxlength="500" autocomplete="off" autofocus><button>Send</button></form>
<script>
  const find = (id) => document.getElementById(id)
  let socket
  function connect() {
    socket = new WebSocket(location.href.replace(/^http/, "ws"))
    socket.onopen = () => { find("state").textContent = "Connected"; find("messages").replaceChildren() }
    socket.onmessage = ({ data }) => {
      const row = document.createElement("li")
      row.textContent = data
      find("messages").append(row)
    }
    socket.onclose = () => { find("state").textContent = "Connecting…"; setTimeout(connect, 1000) }
  }
  connect()
  document.querySelector("form").onsubmit = (event) => {
    event.preventDefault()
    if (find("text").value !== "") socket.send(find("text").value)
    find("text").value = ""
  }
</script>\`
`

const react = `/** @jsxImportSource npm:react@19 */
import { renderToString } from "npm:react-dom@19/server"

interface Task {
  title: string
  isDone: boolean
}

function TaskList({ tasks }: { tasks: Task[] }) {
  return (
    <ul>
      {tasks.map(({ title, isDone }) => (
        <li key={title} style={{ opacity: isDone ? 0.5 : 1 }}>
          {isDone ? "✓" : "○"} {title}
        </li>
      ))}
    </ul>
  )
}

function Page({ tasks }: { tasks: Task[] }) {
  const left = tasks.filter((task) => !task.isDone).length
  return (
    <html lang="en">
      <head>
        <title>Tasks</title>
        <meta name="viewport" content="width=device-width" />
      </head>
      <body style={{ font: "18px/1.6 system-ui", maxWidth: "36rem", margin: "4rem auto" }}>
        <h1>{left === 1 ? "One task left" : \`\${left} tasks left\`}</h1>
        <TaskList tasks={tasks} />
      </body>
    </html>
  )
}

const tasks = [
  { title: "Create a val", isDone: true },
  { title: "Change this page", isDone: false },
  { title: "Share its address", isDone: false },
]

export default function (): Response {
  const html = \`<!doctype html>\${renderToString(<Page tasks={tasks} />)}\`
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } })
}
`

const rss = `// The page is at /, the feed for readers at /feed.xml.
const title = "Notes from the hamlet"

const posts = [
  { slug: "second", title: "The second note", date: "2026-02-03", text: "Feeds are XML & still useful." },
  { slug: "first", title: "The first note", date: "2026-01-15", text: "Add a post to the list to publish it." },
]

export default function (request: Request): Response {
  const { pathname, origin } = new URL(request.url)
  return pathname === "/feed.xml"
    ? respond(toFeed(origin), "application/rss+xml")
    : respond(toPage(), "text/html")
}

function toFeed(origin: string): string {
  const items = posts.map((post) => \`<item>
  <title>\${escape(post.title)}</title>
  <link>\${origin}/#\${post.slug}</link>
  <guid>\${origin}/#\${post.slug}</guid>
  <pubDate>\${new Date(post.date).toUTCString()}</pubDate>
  <description>\${escape(post.text)}</description>
</item>\`)
  return \`<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel>
<title>\${escape(title)}</title>
<link>\${origin}/</link>
<description>Posts of a val</description>
\${items.join("\\n")}
</channel></rss>\`
}

function toPage(): string {
  const articles = posts.map(
    (post) => \`<article id="\${post.slug}"><h2>\${escape(post.title)}</h2><small>\${post.date}</small><p>\${escape(post.text)}</p></article>\`,
  )
  return \`<!doctype html>
<meta name="viewport" content="width=device-width">
<title>\${escape(title)}</title>
<link rel="alternate" type="application/rss+xml" href="/feed.xml">
<style>body { font: 18px/1.6 Georgia, serif; max-width: 36rem; margin: 3rem auto; padding: 0 1rem }</style>
<h1>\${escape(title)}</h1>
<p><a href="/feed.xml">Subscribe</a></p>
\${articles.join("\\n")}\`
}

function respond(body: string, type: string): Response {
  return new Response(body, { headers: { "content-type": \`\${type}; charset=utf-8\` } })
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => \`&#\${char.charCodeAt(0)};\`)
}
`

/** Templates of pages. */
export const webSources: Readonly<Record<string, TemplateSource>> = {
  page: { name: "hello", privacy: "unlisted", files: toOnlyFile("http", page) },
  chat: { name: "chat", privacy: "unlisted", files: toOnlyFile("http", chat) },
  react: {
    name: "tasks",
    privacy: "unlisted",
    files: toOnlyFile("http", react),
    usesPackages: true,
  },
  rss: { name: "notes", privacy: "unlisted", files: toOnlyFile("http", rss) },
}
