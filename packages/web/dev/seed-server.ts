import type { AppStage, Person } from "./app-stage.ts"

/** A user with content, for pictures. */
export interface SeededServer {
  readonly ada: Person
  readonly failedRunId: string
}

const balcony = `import { blob } from "/std/blob"

interface Reading {
  at: string
  celsius: number
}

/** Keeps the last readings of a thermometer and shows them. */
export default async function (request: Request): Promise<Response> {
  const readings: Reading[] = (await blob.getJSON("readings")) ?? []
  if (request.method === "POST") {
    const { celsius } = await request.json()
    readings.unshift({ at: new Date().toISOString(), celsius })
    await blob.setJSON("readings", readings.slice(0, 100))
    console.log("stored", celsius)
    return Response.json({ ok: true })
  }
  const rows = readings.map(({ at, celsius }) =>
    \`<li><b>\${celsius.toFixed(1)} °C</b> <small>\${at.slice(11, 16)}</small></li>\`
  )
  const html = \`<style>
    body { font: 16px/1.5 system-ui; margin: 2rem }
    li { margin: .4rem 0 }
  </style>
  <h1>On the balcony</h1>
  <ul>\${rows.join("")}</ul>\`
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } })
}
`

const luck = `/** Fails when it is out of luck. */
export default function (limit = 0.2, name = "Ada") {
  const luck = Math.random()
  console.log(name, "has a luck of", luck.toFixed(2))
  if (luck < limit) throw new Error("not this time")
  return { name, luck }
}
`

const inbox = `interface Email {
  from: string
  subject?: string
}

export default function ({ from, subject }: Email) {
  console.log("from", from, "about", subject)
}
`

const shopMain = `import { toPrice } from "./lib/prices.ts"
import goods from "./goods.json" with { type: "json" }

export default function (): Response {
  const rows = goods.map(({ name, cents }) => \`<li>\${name}: \${toPrice(cents)}</li>\`)
  return new Response(\`<h1>Shop</h1><ul>\${rows.join("")}</ul>\`, {
    headers: { "content-type": "text/html; charset=utf-8" },
  })
}
`

const shopPrices = `/** Cents as people read them. */
export function toPrice(cents: number): string {
  return \`€ \${(cents / 100).toFixed(2)}\`
}
`

/** A val of several files, and a branch of it. */
async function seedShop({ client }: Person): Promise<void> {
  const { id: val_id } = await client.createFolder({ name: "shop", privacy: "public" })
  await client.changeFiles({
    val_id,
    changes: [
      { path: "main.tsx", type: "http", content: shopMain },
      { path: "lib/prices.ts", content: shopPrices },
      { path: "lib/stock.ts", content: "export const stock = new Map<string, number>()\n" },
      { path: "jobs/nightly.ts", type: "interval", content: "export default () => {}\n" },
      { path: "jobs/orders.ts", type: "email", content: inbox },
      { path: "goods.json", content: '[{ "name": "Tea", "cents": 450 }]\n' },
      { path: "README.md", content: "# Shop\n\nTea and what belongs to it.\n" },
    ],
  })
  const branch = await client.createBranch({ val_id, name: "winter" })
  await client.changeFiles({
    val_id,
    branch_id: branch.id,
    note: "Prices for the winter",
    changes: [
      { path: "lib/prices.ts", content: shopPrices.replace("toFixed(2)", "toFixed(1)") },
      { path: "lib/snow.ts", content: "export const isSnowing = true\n" },
    ],
  })
}

/** Creates a user with vals of each type and what they did, and a user who uses them. */
export async function seedServer(stage: AppStage): Promise<SeededServer> {
  const [ada, grace] = [await stage.person("ada"), await stage.person("grace")]
  const { client } = ada
  const endpoint = await seedBalcony(ada, grace)
  for (const name of ["link_shortener", "rss_to_json", "newsletter"])
    await client.createVal({
      name,
      code: `export default () => new Response("${name}")\n`,
      type: "http",
    })
  const uptime = await client.createVal({
    name: "uptime",
    code: `export default async () => (await fetch("${endpoint}")).status\n`,
    type: "interval",
  })
  await client.putSchedule({ val_id: uptime.id, cron: "0 9 * * 1-5", timeZone: "Europe/Berlin" })
  await client.createVal({ name: "inbox", code: inbox, type: "email" })
  await seedShop(ada)
  const failedRunId = await seedLuck(ada)
  await seedAccount(ada)
  await client.updateMe({ bio: "Small programs for a small flat." })
  return { ada, failedRunId }
}

async function seedBalcony(ada: Person, grace: Person): Promise<string> {
  const { client } = ada
  const fields = { name: "balcony", type: "http", privacy: "public" } as const
  const readme = `# On the balcony

Keeps the readings of a thermometer.

\`\`\`sh
curl -d '{"celsius":21.5}' http://ada-balcony.localhost:8080/
\`\`\`

- [x] Readings as a list
- [ ] A chart
`
  const first = balcony.replace(".toFixed(1)", "")
  const { id, links } = await client.createVal({ ...fields, code: first, readme })
  await client.createVersion({ val_id: id, code: balcony })
  const endpoint = links.endpoint ?? ""
  for (const celsius of [11.2, 12.4, 13.1, 12.9, 14.6])
    await fetch(endpoint, { method: "POST", body: JSON.stringify({ celsius }) })
  for (let count = 0; count < 12; count += 1) await fetch(endpoint)
  await grace.client.createVal({
    name: "dashboard",
    code: `import balcony from "${links.module}"\nexport default balcony\n`,
    privacy: "public",
    readme: "The balcony of a friend, on the screen in the kitchen.",
  })
  await grace.client.likeVal({ val_id: id })
  await grace.client.createComment({ val_id: id, comment: "Lovely. Does it do humidity?" })
  await client.likeVal({ val_id: id })
  return endpoint
}

/** Returns the id of a run that failed. */
async function seedLuck({ client }: Person): Promise<string> {
  const { id } = await client.createVal({ name: "luck", code: luck, privacy: "unlisted" })
  for (let count = 0; count < 10; count += 1) await client.createRun({ val_id: id, args: [0] })
  return (await client.createRun({ val_id: id, args: [1, "Grace"] })).id
}

async function seedAccount({ client }: Person): Promise<void> {
  await client.putSecret({ name: "API_KEY", value: "x", hosts: ["api.example.com"] })
  await client.createToken({ name: "laptop", scopes: ["val:read", "run:read"] })
  await client.createWebhook({
    url: "https://receiver.example.com/hamlet",
    events: ["run.failed", "comment.created"],
    description: "For the log",
  })
  await client.batchSql({
    statements: [
      "create table links (slug text primary key, url text, visits integer)",
      "create table visitors (at integer, slug text)",
      `insert into links values ('tea', 'https://example.com/tea', 41), ('bike', 'https://example.com/bike', 7), ('map', 'https://example.com/map', 12)`,
    ],
  })
}
