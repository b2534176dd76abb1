import type { IconName } from "../../ui/icon.tsx"

/** A working val to start from. */
export interface Example {
  readonly key: string
  readonly title: string
  readonly summary: string
  readonly icon: IconName
  readonly type: "http" | "script" | "interval" | "email"
  /** The schedule of an interval val. */
  readonly every?: string
  /** The web address of a private val would be closed to other users. */
  readonly privacy: "private" | "unlisted"
  readonly name: string
  readonly code: string
  readonly readme?: string
}

const page: Example = {
  key: "page",
  title: "A web page",
  summary: "Has a web address that you can share",
  icon: "external",
  type: "http",
  privacy: "unlisted",
  name: "hello",
  code: `// An HTTP val is a function from a Request to a Response.
export default function (request: Request): Response {
  const name = new URL(request.url).searchParams.get("name") ?? "world"
  console.log("request for", name)
  const html = \`<!doctype html>
<title>Hello</title>
<h1>Hello, \${escape(name)}!</h1>
<p>It is \${new Date().toLocaleTimeString()} where this val runs.</p>\`
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } })
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (char) => \`&#\${char.charCodeAt(0)};\`)
}
`,
}

const api: Example = {
  key: "api",
  title: "A JSON API",
  summary: "Keeps a counter in storage and responds with JSON",
  icon: "script",
  type: "http",
  privacy: "unlisted",
  name: "counter",
  code: `import { blob } from "/std/blob"

// Blobs keep their content between runs.
export default async function (request: Request): Promise<Response> {
  const count = ((await blob.getJSON("counter")) as number | undefined) ?? 0
  if (request.method !== "POST") return Response.json({ count })
  await blob.setJSON("counter", count + 1)
  return Response.json({ count: count + 1 })
}
`,
}

const script: Example = {
  key: "script",
  title: "A script",
  summary: "A function that you run here, from the API or from another val",
  icon: "play",
  type: "script",
  privacy: "private",
  name: "dice",
  code: `// The default export is called with the arguments of the run.
export default function roll(sides = 6, times = 3): { rolls: number[]; sum: number } {
  const rolls = Array.from({ length: times }, () => 1 + Math.floor(Math.random() * sides))
  console.log("rolled", rolls)
  return { rolls, sum: rolls.reduce((sum, roll) => sum + roll, 0) }
}
`,
}

const packages: Example = {
  key: "packages",
  title: "With a package",
  summary: "Imports from npm; saving locks the versions",
  icon: "branch",
  type: "script",
  privacy: "private",
  name: "check_email",
  code: `import { z } from "npm:zod"

const Person = z.object({ name: z.string().min(1), email: z.email() })

export default function check(person: unknown = { name: "Ada", email: "ada@example.com" }) {
  return Person.safeParse(person)
}
`,
}

const schedule: Example = {
  key: "schedule",
  title: "A schedule",
  summary: "Runs by itself every hour, or at the times that you choose",
  icon: "timer",
  type: "interval",
  every: "1h",
  privacy: "private",
  name: "heartbeat",
  code: `import { blob } from "/std/blob"

// Called when it is due; the tab Schedule shows when that is.
export default async function (interval?: { lastRunAt?: Date; scheduledAt: Date }) {
  const beats = (((await blob.getJSON("beats")) as number | undefined) ?? 0) + 1
  await blob.setJSON("beats", beats)
  console.log("beat", beats, "last run at", interval?.lastRunAt)
  return beats
}
`,
}

const inbox: Example = {
  key: "inbox",
  title: "A mail inbox",
  summary: "Runs when a mail arrives at its address",
  icon: "mail",
  type: "email",
  privacy: "unlisted",
  name: "inbox",
  code: `// Called with each mail; the tab Mail has the address and a form to try it.
export default function (email: { from: string; subject?: string; text?: string; attachments: File[] }) {
  console.log(email.from, "wrote", email.subject)
  return { words: (email.text ?? "").split(/\\s+/).length, files: email.attachments.length }
}
`,
}

/** The examples. */
export const examples: readonly Example[] = [page, api, script, schedule, inbox, packages]
