import { expect } from "bun:test"
import type { TownVal } from "./town-val.ts"

/** A val that another one imports. */
const library2026: TownVal = {
  title: "2026: a library",
  type: "script",
  name: "library2026",
  code: `/** Says it louder. */
export function shout(text: string): string {
  return text.toUpperCase();
}`,
  async check({ run }) {
    expect((await run("louder")).returned).toBe("LOUDER")
  },
}

/** Default exports, `main.ts` in the addresses of the standard library, packages from npm. */
export const vals2026: readonly TownVal[] = [
  library2026,
  {
    title: "2026: the default export responds, with secrets from the environment",
    type: "http",
    code: `export default async function (req: Request): Promise<Response> {
  const secret = Deno.env.get("ADAS_SECRET");
  if (!secret) return new Response("Missing secret", { status: 500 });
  process.env.GREETING ??= "hello";
  return new Response(process.env.GREETING + " " + secret.length);
}`,
    async check({ get }) {
      expect((await get()).text).toBe("hello 22")
    },
  },
  {
    title: "2026: a counter in a blob",
    type: "http",
    code: `import { blob } from "https://esm.town/v/std/blob/main.ts";

const KEY = "counter2026";

export default async function handler() {
  const count = ((await blob.getJSON<number>(KEY)) ?? 0) + 1;
  await blob.setJSON(KEY, count);
  const keys = await blob.list("counter");
  return Response.json({ count, keys: keys.map((entry) => entry.key) });
}`,
    async check({ get }) {
      expect((await get()).json).toEqual({ count: 1, keys: ["counter2026"] })
      expect((await get()).json.count).toBe(2)
    },
  },
  {
    title: "2026: a to-do list with Hono and sqlite",
    type: "http",
    code: `import { sqlite } from "https://esm.town/v/std/sqlite/main.ts";
import { Hono } from "npm:hono@4";

await sqlite.batch([
  "create table if not exists todos2026 (id integer primary key, title text not null, done integer not null default 0)",
]);

const app = new Hono();
app.onError((err) => Promise.reject(err));
app.get("/todos", async (c) => c.json((await sqlite.execute("select id, title, done from todos2026")).rows));
app.post("/todos", async (c) => {
  const { title } = await c.req.json();
  const { lastInsertRowid } = await sqlite.execute({ sql: "insert into todos2026 (title) values (?)", args: [title] });
  return c.json({ id: Number(lastInsertRowid) }, 200);
});
app.put("/todos/:id", async (c) => {
  await sqlite.execute({ sql: "update todos2026 set done = 1 where id = ?", args: [c.req.param("id")] });
  return c.json({ ok: true });
});

export default app.fetch;`,
    async check({ get }) {
      const { json } = await get("/todos", { method: "POST", body: '{"title":"Write"}' })
      expect(json).toEqual({ id: 1 })
      await get("/todos/1", { method: "PUT" })
      expect((await get("/todos")).json).toEqual([{ id: 1, title: "Write", done: 1 }])
    },
  },
  {
    title: "2026: sqlite2 gives named columns and libSQL's errors",
    type: "script",
    code: `import { sqlite } from "https://esm.town/v/std/sqlite2";

export default async function main() {
  await sqlite.batch([
    "create table if not exists users2026 (id integer primary key, email text unique)",
    { sql: "insert or ignore into users2026 (id, email) values (?, ?)", args: [1, "ada@example.com"] },
  ], "write");
  const { rows, columns } = await sqlite.execute({ sql: "select * from users2026 where id = :id", args: { id: 1 } });
  const error = await sqlite.execute({ sql: "insert into users2026 (email) values (?)", args: ["ada@example.com"] })
    .catch((error) => error);
  console.log(rows);
  return { columns, ...rows[0], first: rows[0][1], code: error.code };
}`,
    async check({ run }) {
      const { returned, logs } = await run()
      expect(returned).toEqual({
        columns: ["id", "email"],
        id: 1,
        email: "ada@example.com",
        first: "ada@example.com",
        code: "SQLITE_CONSTRAINT",
      })
      expect(logs).toEqual(['[ { id: 1, email: "ada@example.com" } ]'])
    },
  },
  {
    title: "2026: a page of JSX on the server",
    type: "http",
    code: `/** @jsxImportSource npm:hono@4/jsx */
import { Hono } from "npm:hono@4";

const Layout = (props: { title: string; children?: any }) => (
  <html lang="en">
    <body>
      <h1>{props.title}</h1>
      {props.children}
    </body>
  </html>
);

const app = new Hono();
app.get("/", (c) => c.html(<Layout title="Cats & dogs">{[1, 2].map((n) => <p key={n}>{n}</p>)}</Layout>));
export default app.fetch;`,
    async check({ get }) {
      expect((await get()).text).toBe(
        '<html lang="en"><body><h1>Cats &amp; dogs</h1><p>1</p><p>2</p></body></html>',
      )
    },
  },
  {
    title: "2026: a cron handler remembers when it last ran",
    type: "script",
    code: `import { blob } from "https://esm.town/v/std/blob";

export default async function cronHandler(interval: Interval) {
  const lastRun = await blob.getJSON("cron2026");
  await new Promise((r) => setTimeout(r, 30));
  await blob.setJSON("cron2026", { runs: (lastRun?.runs ?? 0) + 1 });
  console.log(lastRun ? "again" : "for the first time");
}`,
    async check({ run }) {
      expect((await run()).logs).toEqual(["for the first time"])
      expect((await run()).logs).toEqual(["again"])
    },
  },
  {
    title: "2026: an email handler keeps attachments in blobs",
    type: "script",
    code: `import { blob } from "https://esm.town/v/std/blob";

export default async function (e: Email) {
  for (const attachment of e.attachments) await blob.set("mail/" + attachment.name, attachment.content);
  const saved = await blob.list("mail/");
  return { from: e.from, saved: saved.map(({ key, size }) => [key, size]) };
}`,
    async check({ run }) {
      const attachments = [{ name: "a.txt", content: "hello" }]
      expect((await run({ from: "ada@example.com", attachments })).returned).toEqual({
        from: "ada@example.com",
        saved: [["mail/a.txt", 5]],
      })
    },
  },
  {
    title: "2026: chat with a language model",
    type: "http",
    code: `import { OpenAI } from "https://esm.town/v/std/openai";

export default async function (req: Request): Promise<Response> {
  const openai = new OpenAI();
  const completion = await openai.chat.completions.create({
    messages: [
      { role: "system", content: "You are a parrot." },
      { role: "user", content: await req.text() },
    ],
    model: "echo",
    max_tokens: 30,
  });
  return Response.json(completion.choices[0].message);
}`,
    async check({ get }) {
      const { json } = await get("/", { method: "POST", body: "Polly?" })
      expect(json).toEqual({ role: "assistant", content: "You said: Polly?", refusal: null })
    },
  },
  {
    title: "2026: a streamed chat, and the error of an unknown model",
    type: "http",
    code: `import { OpenAI, ValTownOpenAI } from "https://esm.town/v/std/openai/main.ts";

const openai = new ValTownOpenAI();

export default async (req: Request) => {
  const model = new URL(req.url).searchParams.get("model") ?? "echo";
  try {
    const stream = await openai.chat.completions.create({
      model,
      stream: true,
      messages: [{ role: "user", content: "one two" }],
    });
    return new Response(new ReadableStream({
      async start(controller) {
        for await (const chunk of stream) {
          controller.enqueue(new TextEncoder().encode("[" + (chunk.choices[0]?.delta?.content ?? "") + "]"));
        }
        controller.close();
      },
    }));
  } catch (error) {
    return new Response(\`\${error.constructor.name} \${error.status} \${error instanceof OpenAI.APIError}\`);
  }
};`,
    async check({ get }) {
      expect((await get()).text).toBe("[You ][said: ][one ][two]")
      expect((await get("/?model=gpt-99")).text).toBe("BadRequestError 400 true")
    },
  },
  {
    title: "2026: a val reads its own readme and serves its own code",
    type: "http",
    name: "about2026",
    readme: "# About me\n",
    code: `import { isMain, listFiles, parseVal, readFile, serveFile } from "https://esm.town/v/std/utils@85-main/index.ts";

export default async function (req: Request): Promise<Response> {
  const { pathname } = new URL(req.url);
  if (pathname === "/main.tsx") return serveFile(pathname, import.meta.url);
  const val = parseVal(import.meta.url);
  const files = await listFiles(import.meta.url);
  const missing = await readFile("/frontend/index.html", import.meta.url).catch((error: Error) => error.message);
  return Response.json({
    name: val.username + "/" + val.name,
    readme: await readFile("/README.md"),
    files: files.map((file) => file.path),
    isMain: isMain(import.meta.url),
    missing,
  });
}`,
    async check({ get }) {
      const { missing, ...rest } = (await get()).json
      expect(rest).toEqual({
        name: "ada/about2026",
        readme: "# About me\n",
        isMain: true,
        files: ["README.md", "main.tsx"],
      })
      expect(missing).toStartWith('Failed to fetch file "/frontend/index.html"')
      const { text, headers } = await get("/main.tsx")
      expect(headers.get("content-type")).toBe("text/javascript")
      expect(text).toContain("export default async function")
      expect(text).not.toContain("Promise<Response>")
    },
  },
  ...["2.0.0", "2.1.0"].map(
    (version): TownVal => ({
      title: `2026: Val Town's client ${version} is a client of this server`,
      type: "script",
      code: `import ValTown from "npm:@valtown/sdk@${version}";

export default async function () {
  const vt = new ValTown();
  const me = await vt.me.profile.retrieve();
  await vt.blobs.store("sdk2026", new TextEncoder().encode("from the client"));
  const stored = await vt.blobs.get("sdk2026");
  const { rows } = await vt.sqlite.execute({ statement: "select 40 + 2" });
  return [me.username, await stored.text(), rows[0][0], vt.baseURL === Deno.env.get("HAMLET_URL")];
}`,
      async check({ run }) {
        expect((await run()).returned).toEqual(["ada", "from the client", 42, true])
      },
    }),
  ),
  {
    title: "2026: a body is validated with zod",
    type: "http",
    code: `import { z } from "npm:zod@4";

const Order = z.object({ item: z.string().min(1), count: z.number().int().positive() });

export default async function (req: Request) {
  const order = Order.safeParse(await req.json());
  if (!order.success) return Response.json({ fields: order.error.issues.map((issue) => issue.path.join(".")) });
  return Response.json({ total: order.data.count * 3 });
}`,
    async check({ get }) {
      const post = (body: object) => get("/", { method: "POST", body: JSON.stringify(body) })
      expect((await post({ item: "tea", count: 2 })).json).toEqual({ total: 6 })
      expect((await post({ item: "", count: 0.5 })).json).toEqual({ fields: ["item", "count"] })
    },
  },
  {
    title: "2026: a val imports a library val and fetches its own address",
    type: "http",
    code: `import { fetch } from "https://esm.town/v/std/fetch";
import { httpEndpoint } from "https://esm.town/v/std/utils";
import { shout } from "https://esm.town/v/ada/library2026";

export default async function (req: Request) {
  const { pathname } = new URL(req.url);
  if (pathname === "/shout") return new Response(shout("hello"));
  const response = await fetch((await httpEndpoint("/main.tsx")) + "/shout");
  return new Response("it says " + (await response.text()));
}`,
    async check({ get }) {
      expect((await get()).text).toBe("it says HELLO")
    },
  },
  {
    title: "2026: API_URL and the token of the environment reach the API",
    type: "script",
    code: `import { API_URL } from "https://esm.town/v/std/API_URL?v=5";

export default async () => {
  const response = await fetch(API_URL + "/v1/me", {
    headers: { Authorization: "Bearer " + Deno.env.get("valtown") },
  });
  return (await response.json()).username;
};`,
    async check({ run }) {
      expect((await run()).returned).toBe("ada")
    },
  },
  {
    title: "2026: Drizzle over std/sqlite, with the web client of libSQL",
    type: "script",
    code: `import { createClient } from "npm:@libsql/client@0.18.0/web";
import { eq } from "npm:drizzle-orm@0.45.4";
import { drizzle } from "npm:drizzle-orm@0.45.4/libsql/web";
import { integer, sqliteTable, text } from "npm:drizzle-orm@0.45.4/sqlite-core";
import { sqlite } from "https://esm.town/v/std/sqlite";

const guests = sqliteTable("guests2026", { id: integer().primaryKey(), name: text() });

export default async () => {
  await sqlite.execute("create table if not exists guests2026 (id integer primary key, name text)");
  const db = drizzle({ client: sqlite as unknown as ReturnType<typeof createClient> });
  await db.insert(guests).values([{ name: "Ada" }, { name: "Bob" }]);
  const renamed = await db.update(guests).set({ name: "Eve" }).where(eq(guests.name, "Bob")).returning();
  const [all, names] = await db.batch([db.select().from(guests), db.select({ name: guests.name }).from(guests)]);
  return [renamed, all.length, names.map(({ name }) => name)];
};`,
    async check({ run }) {
      expect((await run()).returned).toEqual([[{ id: 2, name: "Eve" }], 2, ["Ada", "Eve"]])
    },
  },
  {
    title: "2024: std/rpc makes a function a web address",
    type: "http",
    code: `import { rpc } from "https://esm.town/v/std/rpc?v=5";

export const add_numbers = rpc(async (a: number, b: number) => {
  return a + b;
});`,
    async check({ get }) {
      expect((await get("/?args=[1,2]")).json).toBe(3)
      expect((await get("/", { method: "POST", body: "[3,4]" })).json).toBe(7)
    },
  },
]
