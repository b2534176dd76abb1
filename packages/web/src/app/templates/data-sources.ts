import { type TemplateSource, toOnlyFile } from "./template.ts"

const api = `import { blob } from "/std/blob"

// Blobs keep their content between runs.
export default async function (request: Request): Promise<Response> {
  const count = ((await blob.getJSON("counter")) as number | undefined) ?? 0
  if (request.method !== "POST") return Response.json({ count })
  await blob.setJSON("counter", count + 1)
  return Response.json({ count: count + 1 })
}
`

const guestbook = `import { sqlite } from "/std/sqlite"

// The database belongs to your account; all of your vals share it.
await sqlite.execute("create table if not exists guestbook (name text, message text, at integer)")

export default async function (request: Request): Promise<Response> {
  if (request.method === "POST") {
    const form = await request.formData()
    const [name, message] = [read(form, "name", 60), read(form, "message", 500)]
    if (name === "" || message === "") return new Response("Both fields are needed", { status: 400 })
    await sqlite.execute("insert into guestbook values (?, ?, ?)", [name, message, Date.now()])
    return new Response(null, { status: 303, headers: { location: "/" } })
  }
  const { rows } = await sqlite.execute("select * from guestbook order by at desc limit 50")
  const entries = rows.map(
    (row) => \`<li><b>\${escape(row.name)}</b> <small>\${new Date(row.at).toDateString()}</small><br>\${escape(row.message)}</li>\`,
  )
  return new Response(toPage(entries.join("")), {
    headers: { "content-type": "text/html; charset=utf-8" },
  })
}

function read(form: FormData, name: string, charsMax: number): string {
  return String(form.get(name) ?? "").trim().slice(0, charsMax)
}

function toPage(entries: string): string {
  return \`<!doctype html>
<meta name="viewport" content="width=device-width">
<title>Guestbook</title>
<style>
  body { font: 16px/1.5 system-ui; max-width: 36rem; margin: 3rem auto; padding: 0 1rem }
  form { display: grid; gap: .6rem }
  input, textarea, button { font: inherit; padding: .4rem .6rem }
  li { margin: .8rem 0; overflow-wrap: anywhere }
</style>
<h1>Guestbook</h1>
<form method="post">
  <input name="name" placeholder="Your name" aria-label="Your name" maxlength="60" required>
  <textarea name="message" placeholder="Your message" aria-label="Your message" maxlength="500" required></textarea>
  <button>Sign</button>
</form>
<ul>\${entries}</ul>\`
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => \`&#\${char.charCodeAt(0)};\`)
}
`

const shortener = `import { sqlite } from "/std/sqlite"

await sqlite.execute("create table if not exists links (slug text primary key, url text, visits integer default 0)")

export default async function (request: Request): Promise<Response> {
  const { pathname, origin } = new URL(request.url)
  if (request.method === "POST") return await addLink(await request.formData(), origin)
  if (pathname !== "/") return await follow(pathname.slice(1))
  const { rows } = await sqlite.execute("select * from links order by visits desc limit 100")
  return toPage(
    rows
      .map((row) => \`<tr><td><a href="/\${row.slug}">/\${row.slug}</a><td>\${escape(row.url)}<td>\${row.visits}\`)
      .join(""),
  )
}

async function follow(slug: string): Promise<Response> {
  const { rows } = await sqlite.execute(
    "update links set visits = visits + 1 where slug = ? returning url",
    [slug],
  )
  const url = rows[0]?.url
  return url === undefined
    ? new Response("There is no such link", { status: 404 })
    : new Response(null, { status: 302, headers: { location: url } })
}

async function addLink(form: FormData, origin: string): Promise<Response> {
  const url = String(form.get("url") ?? "")
  // Other schemes, such as javascript:, must not be redirected to.
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return new Response("That is not a web address", { status: 400 })
  const slug = crypto.randomUUID().slice(0, 6)
  await sqlite.execute("insert into links (slug, url) values (?, ?)", [slug, new URL(url).href])
  console.log(\`\${origin}/\${slug} leads to \${url}\`)
  return new Response(null, { status: 303, headers: { location: "/" } })
}

function toPage(rows: string): Response {
  const html = \`<!doctype html>
<meta name="viewport" content="width=device-width">
<title>Links</title>
<style>
  body { font: 16px/1.5 system-ui; max-width: 44rem; margin: 3rem auto; padding: 0 1rem }
  form { display: flex; gap: .5rem }
  input { flex: 1; font: inherit; padding: .4rem .6rem }
  table { width: 100%; margin-top: 2rem; text-align: left }
  td { overflow-wrap: anywhere }
</style>
<h1>Links</h1>
<form method="post"><input name="url" type="url" placeholder="https://…" aria-label="Address" required><button>Shorten</button></form>
<table><tr><th>Link<th>Leads to<th>Visits\${rows}</table>\`
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } })
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => \`&#\${char.charCodeAt(0)};\`)
}
`

const webhook = `import { sqlite } from "/std/sqlite"

await sqlite.execute("create table if not exists deliveries (id integer primary key, at integer, body text)")

// Services that sign what they send show a secret: store it as the secret WEBHOOK_SECRET in your
// account. The signature is an HMAC of the body, in the header x-hub-signature-256.
export default async function (request: Request): Promise<Response> {
  if (request.method !== "POST") {
    const { rows } = await sqlite.execute("select id, at, body from deliveries order by id desc limit 20")
    return Response.json(rows.map(({ id, at, body }) => ({ id, at: new Date(at), body: JSON.parse(body) })))
  }
  const text = await request.text()
  const secret = Deno.env.get("WEBHOOK_SECRET")
  const signature = request.headers.get("x-hub-signature-256") ?? ""
  if (secret !== undefined && !(await isSigned(text, secret, signature)))
    return new Response("The signature is wrong", { status: 401 })
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return new Response("The body is not JSON", { status: 400 })
  }
  console.log("received", body)
  await sqlite.batch([
    { sql: "insert into deliveries (at, body) values (?, ?)", args: [Date.now(), JSON.stringify(body)] },
    "delete from deliveries where id <= (select max(id) - 1000 from deliveries)",
  ])
  return new Response(null, { status: 204 })
}

async function isSigned(text: string, secret: string, signature: string): Promise<boolean> {
  const [, hex = ""] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? []
  const key = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["verify"],
  )
  // verify takes the same time for every wrong signature.
  return crypto.subtle.verify("HMAC", key, Uint8Array.fromHex(hex), new TextEncoder().encode(text))
}
`

const zod = `import { z } from "npm:zod@4"

const Order = z.object({
  product: z.string().min(1).max(80),
  quantity: z.int().min(1).max(100),
  email: z.email(),
})

// Try: POST {"product": "tea", "quantity": 2, "email": "ada@example.com"}
export default async function (request: Request): Promise<Response> {
  if (request.method !== "POST") return Response.json(z.toJSONSchema(Order))
  const body = await request.json().catch(() => undefined)
  const order = Order.safeParse(body)
  if (!order.success) return Response.json({ issues: order.error.issues }, { status: 422 })
  console.log("order", order.data)
  return Response.json({ id: crypto.randomUUID(), ...order.data }, { status: 201 })
}
`

/** Templates with data. */
export const dataSources: Readonly<Record<string, TemplateSource>> = {
  api: { name: "counter", privacy: "unlisted", files: toOnlyFile("http", api) },
  guestbook: { name: "guestbook", privacy: "unlisted", files: toOnlyFile("http", guestbook) },
  shortener: { name: "links", privacy: "unlisted", files: toOnlyFile("http", shortener) },
  webhook: { name: "receiver", privacy: "unlisted", files: toOnlyFile("http", webhook) },
  zod: { name: "orders", privacy: "unlisted", files: toOnlyFile("http", zod), usesPackages: true },
}
