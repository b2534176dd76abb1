import { expect } from "bun:test"
import type { TownVal } from "./town-val.ts"

/** Named exports, versions in the query, types that are global on Val Town. */
export const vals2023: readonly TownVal[] = [
  {
    title: "2023: a constant is a val",
    type: "script",
    code: `export const favouriteNumbers = [4, 8, 15, 16, 23, 42];`,
    async check({ run }) {
      expect((await run()).returned).toEqual([4, 8, 15, 16, 23, 42])
    },
  },
  {
    title: "2023: an exported function takes arguments",
    type: "script",
    code: `export const add = (a: number, b: number) => a + b;`,
    async check({ run }) {
      expect((await run(2, 3)).returned).toBe(5)
    },
  },
  {
    title: "2023: a script prints, without any export",
    type: "script",
    code: `const names = ["Ada", "Grace"];
for (const name of names) console.log("Hello,", name);
console.log({ count: names.length });`,
    async check({ run }) {
      expect((await run()).logs).toEqual(["Hello, Ada", "Hello, Grace", "{ count: 2 }"])
    },
  },
  {
    title: "2023: a web handler is a named export",
    type: "http",
    code: `export const myApi = async (request: Request) => {
  const { searchParams } = new URL(request.url);
  return Response.json({ hello: searchParams.get("name") ?? "world" });
};`,
    async check({ get }) {
      expect((await get("/?name=ada")).json).toEqual({ hello: "ada" })
    },
  },
  {
    title: "2023: an Express handler takes a request and a response",
    type: "http",
    code: `export const expressHandler = async (req: express.Request, res: express.Response) => {
  if (req.path === "/html") return res.set("X-Seen", "1").send("<b>" + req.get("Host").split("-")[0] + "</b>");
  if (req.path === "/raw") {
    let text = "";
    for await (const chunk of req) text += chunk;
    return res.end(text);
  }
  res.status(200).json({ method: req.method, query: req.query, body: req.body });
};`,
    async check({ get }) {
      expect((await get("/x?a=1&b=2&b=3")).json).toEqual({
        method: "GET",
        query: { a: "1", b: ["2", "3"] },
      })
      const headers = { "content-type": "application/json" }
      const post = { method: "POST", headers, body: '{"name":"é"}' }
      expect((await get("/", post)).json.body).toEqual({ name: "é" })
      expect((await get("/raw", post)).text).toBe('{"name":"é"}')
      const page = await get("/html")
      expect([page.text, page.headers.get("x-seen")]).toEqual(["<b>ada</b>", "1"])
      expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8")
    },
  },
  {
    title: "2023: HTML is a string, escaped by a tagged template",
    type: "http",
    code: `const escape = (text: unknown) => String(text).replace(/[&<>"]/g, (c) => "&#" + c.charCodeAt(0) + ";");
const html = (parts: TemplateStringsArray, ...values: unknown[]) =>
  parts.reduce((all, part, index) => all + escape(values[index - 1]) + part);

export async function guestPage(req: Request) {
  const name = new URL(req.url).searchParams.get("name");
  return new Response(html\`<h1>Welcome, \${name}!</h1>\`, { headers: { "Content-Type": "text/html" } });
}`,
    async check({ get }) {
      const { text, headers } = await get("/?name=%3Cada%3E")
      expect(text).toBe("<h1>Welcome, &#60;ada&#62;!</h1>")
      expect(headers.get("content-type")).toBe("text/html")
    },
  },
  {
    title: "2023: an interval handler compares with its last run",
    type: "script",
    code: `import { blob } from "https://esm.town/v/std/blob?v=10";

export async function checkUptime(interval: Interval) {
  const last = interval?.lastRunAt ?? (await blob.getJSON("uptime:last")) ?? null;
  await blob.setJSON("uptime:last", "2023-11-01T00:00:00.000Z");
  console.log("last run", last);
  return last;
}`,
    async check({ run }) {
      expect((await run()).returned).toBeNull()
      expect((await run({ id: "1", lastRunAt: undefined })).logs).toEqual([
        "last run 2023-11-01T00:00:00.000Z",
      ])
    },
  },
  {
    title: "2023: an email handler reads the message",
    type: "script",
    code: `export const emailHandler = async function (email: Email) {
  const words = email.text.trim().split(/\\s+/).length;
  console.log(\`\${email.from} wrote \${words} words about \${email.subject}\`);
};`,
    async check({ run }) {
      const email = { from: "ada@example.com", to: ["me@example.com"], subject: "engines" }
      const { logs } = await run({ ...email, text: "one two\nthree ", attachments: [] })
      expect(logs).toEqual(["ada@example.com wrote 3 words about engines"])
    },
  },
  {
    title: "2023: sqlite rows are read like arrays",
    type: "script",
    code: `import { sqlite } from "https://esm.town/v/std/sqlite?v=4";

await sqlite.execute("create table if not exists kv2023 (key text unique, value text)");
await sqlite.execute({
  sql: "insert or replace into kv2023 (key, value) values (:key, :value)",
  args: { key: "specialkey", value: "specialvalue" },
});
const result = await sqlite.execute("select key, value from kv2023");
export const pairs = result.rows.map(([key, value]) => \`\${key}=\${value}\`);`,
    async check({ run }) {
      expect((await run()).returned).toEqual(["specialkey=specialvalue"])
    },
  },
  {
    title: "2023: a form is saved and listed",
    type: "http",
    code: `import { sqlite } from "https://esm.town/v/std/sqlite?v=6";

export const guestbook = async (req: Request) => {
  await sqlite.execute("create table if not exists guestbook2023 (name text, message text)");
  if (req.method === "POST") {
    const form = await req.formData();
    await sqlite.execute({
      sql: "insert into guestbook2023 values (?, ?)",
      args: [form.get("name") as string, form.get("message") as string],
    });
  }
  const { rows } = await sqlite.execute("select * from guestbook2023");
  return Response.json(rows);
};`,
    async check({ get }) {
      const body = new URLSearchParams({ name: "Ada", message: "Hello & good bye" })
      expect((await get("/", { method: "POST", body })).json).toEqual([
        { name: "Ada", message: "Hello & good bye" },
      ])
    },
  },
  {
    title: "2023: console.email and std/email say that mail is not configured",
    type: "script",
    code: `import { email } from "https://esm.town/v/std/email?v=12";

export const notify = async () => {
  const attempts = [
    email({ subject: "New post", text: "https://example.com/", attachments: [{ content: btoa("hi"), filename: "a.txt" }] }),
    console.email("https://example.com/", "New post"),
    email({ to: "not an address", text: "x" }),
  ];
  return (await Promise.allSettled(attempts)).map((it) => it.reason?.message ?? "sent");
};`,
    async check({ run }) {
      const [sent, printed, wrong] = (await run()).returned
      expect(sent).toEndWith(
        "mail is not configured on this server: the operator sets HAMLET_SMTP_URL",
      )
      expect(printed).toBe(sent)
      expect(wrong).toMatch(/\bto\b/)
    },
  },
]
