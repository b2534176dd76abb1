import { expect, test } from "bun:test"
import type { AttackServer } from "../attacks/support/attack-server.ts"
import { describeAttacks } from "../attacks/support/describe-attacks.ts"

const msMax = 240_000

/** The contents of files by path; null deletes the file. */
type FileContents = Readonly<Record<string, string | null>>

describeAttacks("reach/files", { HAMLET_RUN_SECONDS_MAX: "60" }, (getServer) => {
  const post = async (path: string, body: object) => {
    const server = getServer()
    const { status, text, json } = await server.call("POST", path, { as: server.ada, body })
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
    return json
  }
  const save = async ({ id }: { readonly id: string }, files: FileContents, query = "") =>
    post(`/v1/vals/${id}/files${query}`, {
      changes: Object.entries(files).map(([path, content]) =>
        content === null ? { path, delete: true } : { path, content },
      ),
    })
  const addVal = async (code: string, files: FileContents, server: AttackServer = getServer()) => {
    const val = await server.save(server.ada, { code })
    if (Object.keys(files).length > 0) await save(val, files)
    return val
  }
  const textOf = async (val: Parameters<AttackServer["request"]>[0]) =>
    (await getServer().request(val)).text
  const run = ({ id }: { readonly id: string }, body: object) => post(`/v1/vals/${id}/runs`, body)

  test(
    "of a val import each other, in a circle, as JSON and later",
    async () => {
      const val = await addVal(
        `import { greet } from "./lib/greet.ts"
        import data from "./data.json" with { type: "json" }
        export const name: string = data.name
        export default async () => {
          const { later } = await import("./later.js")
          return Response.json([greet(), later, import.meta.url, Deno.env.get("VALTOWN_ENTRYPOINT")])
        }`,
        {
          "lib/greet.ts": `import { name } from "../main.tsx"
            import { mark } from "./mark.tsx"
            const cast = <T,>(value: unknown) => <T>value
            export const greet = () => cast<string>("Hello " + name) + mark`,
          "lib/mark.tsx": `export const mark = "!"`,
          "later.js": `export const later = import.meta.url.split("/").at(-1)`,
          "data.json": `{ "name": "Ada" }`,
        },
      )
      const url = `${getServer().baseUrl}/v/ada/${val.name}@2-main/main.tsx`
      expect(JSON.parse(await textOf(val))).toEqual(["Hello Ada!", "later.js", url, url])
    },
    msMax,
  )

  test(
    "of a val are imported as text and bytes, and by names that it computes",
    async () => {
      const val = await addVal(
        `import page from "./page.html" with { type: "text" }
        import icon from "./icon.svg" with { type: "bytes" }
        export default async () => {
          const later = await import("./later.css", { with: { type: "text" } })
          const names = ["a.ts", "b.tsx"]
          const routes = await Promise.all(names.map((name) => import(\`./routes/\${name}\`)))
          return Response.json([
            page,
            [...icon],
            later.default,
            ...routes.map((route) => route.default),
          ])
        }`,
        {
          "page.html": `<h1>Hä?</h1><script src="./routes/a.ts"></script>`,
          "icon.svg": "é",
          "later.css": "p {}\n",
          "routes/a.ts": `import { mark } from "../mark.ts"; export default "a" + mark`,
          "routes/b.tsx": `export default "b" as string`,
          "mark.ts": `export const mark: string = "!"`,
        },
      )
      expect(JSON.parse(await textOf(val))).toEqual([
        `<h1>Hä?</h1><script src="./routes/a.ts"></script>`,
        [0xc3, 0xa9],
        "p {}\n",
        "a!",
        "b",
      ])
    },
    msMax,
  )

  test(
    "of a val are read by their addresses, in the version that runs",
    async () => {
      const code = (mark: string) => `import fs, { promises, readFile } from "node:fs"
        const at = (path: string) => new URL(path, import.meta.url)
        const attempt = async (work: () => unknown) => {
          try { return await work() } catch (error) { return error.name + ": " + error.message }
        }
        export default async () => Response.json({
          mark: "${mark}",
          text: await Deno.readTextFile(at("./lib/page.html")),
          bytes: [...await Deno.readFile(at("./lib/page.html"))].length,
          path: await Deno.readTextFile(at("./lib/page.html?x").pathname),
          relative: await Deno.readTextFile("./lib/page.html"),
          node: await promises.readFile(at("./lib/page.html"), "utf8"),
          buffer: (await fs.promises.readFile(at("lib/page.html"))).toString("hex"),
          callback: await new Promise((resolve) =>
            readFile(at("lib/page.html"), { encoding: "utf8" }, (error, text) => resolve([error, text])),
          ),
          missing: await attempt(() => Deno.readTextFile(at("./none.html"))),
          folder: await attempt(() => Deno.readTextFile(at("./lib"))),
          outside: await attempt(() => Deno.readTextFile(at("../../bob/x@1-main/main.tsx"))),
          other: await attempt(() => Deno.readTextFile(at("./lib/page.html").href.replace("@2-", "@1-"))),
          sync: await attempt(() => Deno.readTextFileSync(at("./lib/page.html"))),
          nodeSync: await attempt(() => fs.readFileSync(at("./lib/page.html"), "utf8")),
          stat: await attempt(() => Deno.stat(at("./lib/page.html"))),
          etc: await attempt(() => Deno.readTextFile("/etc/passwd")),
        })`
      const val = await addVal("export default 0", {
        "main.tsx": code("one"),
        "lib/page.html": "<p>é",
      })
      const name = (path: string) => `Cannot use ${path} for "lib/page.html", a file of the val: `
      const found = JSON.parse(await textOf(val))
      expect(found).toMatchObject({
        mark: "one",
        text: "<p>é",
        bytes: 5,
        path: "<p>é",
        relative: "<p>é",
        node: "<p>é",
        buffer: "3c703ec3a9",
        callback: [null, "<p>é"],
        missing: 'NotFound: Cannot read "none.html": this version of the val has no such file',
        folder: 'NotFound: Cannot read "lib": this version of the val has no such file',
        outside: expect.stringContaining("Error: "),
        other: expect.stringContaining(": "),
        sync: expect.stringContaining(name("readTextFileSync")),
        nodeSync: expect.stringContaining(name("readFileSync")),
        stat: expect.stringContaining(name("stat")),
        etc: expect.stringContaining("readFile of std/utils"),
      })
      expect(found.outside + found.other + found.etc).not.toContain("<p>")
      // Only the page changes: the process of the version before has another key.
      await save(val, { "lib/page.html": "<p>2" })
      expect(JSON.parse(await textOf(val))).toMatchObject({ text: "<p>2", relative: "<p>2" })
    },
    msMax,
  )

  test(
    "that pages load get their packages from a server for browsers",
    async () => {
      const val = await addVal("export default 0", {
        "main.tsx": `import { serveFile } from "https://esm.town/v/std/utils/index.ts"
          export default () => serveFile("/client/page.tsx")`,
        "client/page.tsx": `/** @jsxImportSource npm:preact@10 */
          import { z } from "npm:zod@3"; import csv from 'jsr:@std/csv'
          export const load = async (): Promise<unknown> => [await import("npm:/hono@4/jsx"), z, csv, <p>npm:x</p>]`,
      })
      const code = await textOf(val)
      for (const path of ["zod@3", "jsr/@std/csv", "hono@4/jsx", "preact@10/jsx-runtime"])
        expect(code).toMatch(new RegExp(`["']https://esm.sh/${path}["']`))
      expect(code).not.toMatch(/(?:from|import)\W*(?:npm|jsr):/)
    },
    msMax,
  )

  test(
    "are shown with their lines in errors, and missing ones by their names",
    async () => {
      const val = await addVal(`import "./lib/fail.ts"\nexport default () => 1`, {
        "lib/fail.ts": `interface Unused { a: string }\n\nthrow new RangeError("no")`,
        "missing.ts": `import "./none.ts"\nexport default () => 1`,
        "root.ts": `import "/lib/fail.ts"\nexport default () => 1`,
      })
      const { error } = await run(val, {})
      expect([error.name, error.stack.split("\n")[1]]).toEqual([
        "RangeError",
        `    at ada/${val.name}/lib/fail.ts:3:7`,
      ])
      expect((await run(val, { file: "missing.ts" })).error.message).toEndWith(
        `version 2 of "ada/${val.name}" has no file "none.ts"`,
      )
      expect((await run(val, { file: "root.ts" })).error.message).toEndWith(
        `means the root of the server, not of the val; files are imported by a relative path, such as "./lib/fail.ts"`,
      )
    },
    msMax,
  )

  test(
    "of other vals are imported by address, once for all addresses, with what is beside them",
    async () => {
      const lib = await addVal("export const main = 1", {
        "a.ts": `export * from "./b.ts"\nexport const url = import.meta.url`,
        "b.ts": "export const seen = { times: 0 }",
      })
      const address = `${getServer().baseUrl}/v/ada/${lib.name}`
      const val = await addVal(
        `import { seen, url } from "${address}/a.ts"
        import { seen as other } from "https://esm.town/v/ada/${lib.name}@2-main/b.ts"
        import { main } from "./${lib.name}"
        export default () => Response.json([seen === other, url, main])`,
        {},
      )
      expect(JSON.parse(await textOf(val))).toEqual([true, `${address}@2-main/a.ts`, 1])
    },
    msMax,
  )

  test(
    "that a process does not reach can change without a new process, those that it does cannot",
    async () => {
      const val = await addVal(
        `import { text } from "./text.ts"
        const process = crypto.randomUUID()
        export default () => new Response(process + " " + text)`,
        { "text.ts": `export const text = "one"`, "README.md": "# One" },
      )
      const [first = ""] = (await textOf(val)).split(" ")
      await save(val, { "README.md": "# Two", "other.ts": "export {}" })
      expect(await textOf(val)).toBe(`${first} one`)
      await save(val, { "text.ts": `export const text = "two"` })
      const [second, text] = (await textOf(val)).split(" ")
      expect([second === first, text]).toEqual([false, "two"])
    },
    msMax,
  )

  test(
    "run on their own, on any branch and in any version",
    async () => {
      const server = getServer()
      const val = await addVal("export default () => 'entry'", {
        "jobs/a.ts": "export default (n: number) => ['a', n]",
        "notes.txt": "text",
      })
      const branch = await post(`/v2/vals/${val.id}/branches`, { name: "Draft" })
      const { json: files } = await server.call(
        "GET",
        `/v2/vals/${val.id}/files?path=jobs%2Fa.ts&branch_id=${branch.id}`,
        { as: server.ada },
      )
      await save(val, { "jobs/a.ts": "export default () => 'draft'" }, `?branch_id=${branch.id}`)

      const started = await run(val, { file: "jobs/a.ts", args: [1] })
      expect(started).toMatchObject({
        status: "succeeded",
        returnValue: ["a", 1],
        val: { id: val.id, version: 2 },
        file: { path: "jobs/a.ts" },
        branch: { id: val.id, name: "main" },
      })
      const draft = await run(val, { file: "jobs/a.ts", branch: "draft" })
      expect(draft).toMatchObject({
        returnValue: "draft",
        val: { version: 1 },
        file: { id: files.data[0].id, path: "jobs/a.ts" },
        branch: { id: branch.id, name: "Draft" },
      })
      const copy = await run(val, { file: "jobs/a.ts", branch: "Draft", version: 0, args: [2] })
      expect(copy).toMatchObject({ returnValue: ["a", 2], val: { name: val.name, version: 0 } })
      expect(await run(val, { branch: "draft" })).toMatchObject({ returnValue: "entry" })
      expect(await run(val, {})).toMatchObject({
        returnValue: "entry",
        file: { id: val.id, path: "main.tsx" },
      })

      const queued = await server.call("POST", `/v1/vals/${val.id}/runs`, {
        as: server.ada,
        body: { file: "jobs/a.ts", branch: "draft" },
        headers: { prefer: "respond-async" },
      })
      expect(await server.endedRun(queued.json.id, server.ada)).toMatchObject({
        returnValue: "draft",
        branch: { name: "Draft" },
        val: { version: 1 },
      })
      expect(await post(`/v1/runs/${draft.id}/replay`, {})).toMatchObject({
        returnValue: "draft",
        branch: { name: "Draft" },
        parentId: draft.id,
      })
    },
    msMax,
  )

  test(
    "are read by std/utils, in the version that runs, and only its own without an address",
    async () => {
      const val = await addVal(
        `import * as utils from "https://esm.town/v/std/utils/index.ts"
        const read = (path: string, url?: string) => utils.readFile(path, url).catch((error) => error.message)
        const failed = (work: Promise<unknown>) => work.then(() => "nothing", (error) => error.message)
        export default async (request: Request) => {
          const { pathname } = new URL(request.url)
          if (pathname !== "/") return utils.serveFile(pathname)
          const many = await Promise.all(Array.from({ length: 200 }, () => utils.readFile("note.txt")))
          return Response.json({
            note: await read("/note.txt"),
            missing: await read("../note.txt"),
            earlier: await read("note.txt", import.meta.url.replace("@2-", "@1-")),
            many: new Set(many).size,
            files: (await utils.listFiles()).map(({ path, type, links }) => [path, type, links.module]),
            nested: (await utils.listFilesByPath("lib")).map(({ path }) => path),
            isMain: utils.isMain(import.meta.url),
            parsed: utils.parseVal(),
            endpoint: await utils.httpEndpoint("main.tsx"),
            email: await failed(utils.emailAddress("note.txt")),
            assets: utils.versionedAssets().url("/style.css"),
          })
        }`,
        {
          "note.txt": "one",
          "lib/code.ts": "export const a: number = 1",
          "style.css": "p {}",
          "bad.sh": "x",
        },
      )
      const { json, text } = await getServer().request(val)
      const module = `${getServer().baseUrl}/v/ada/${val.name}@2-main`
      expect(json ?? text).toMatchObject({
        note: "one",
        missing: expect.stringContaining('Failed to fetch file "../note.txt"'),
        earlier: expect.stringContaining("404"),
        many: 1,
        files: [
          ["bad.sh", "file", `${module}/bad.sh`],
          ["lib", "directory", `${module}/lib`],
          ["lib/code.ts", "script", `${module}/lib/code.ts`],
          ["main.tsx", "http", `${module}/main.tsx`],
          ["note.txt", "file", `${module}/note.txt`],
          ["style.css", "file", `${module}/style.css`],
        ],
        nested: ["lib", "lib/code.ts"],
        isMain: true,
        parsed: { username: "ada", name: val.name, version: 2, branch: "main", file: "main.tsx" },
        endpoint: `http://${val.host}`,
        email: expect.stringContaining("not of type email"),
        assets: "/v2/style.css",
      })
      const served = await getServer().request(val, { path: "/lib/code.ts" })
      expect([served.headers.get("content-type"), served.text.trim()]).toEqual([
        "text/javascript",
        "export const a = 1;",
      ])
      await save(val, { "note.txt": "two" })
      expect((await getServer().request(val)).json.note).toBe("two")
    },
    msMax,
  )

  test(
    "that do not exist, or are not code, do not run",
    async () => {
      const server = getServer()
      const val = await addVal("export default 1", { "notes.txt": "text", "lib/a.ts": "export {}" })
      const refused: [body: object, status: number, code: string][] = [
        [{ file: "none.ts" }, 404, "file_not_found"],
        [{ file: "lib" }, 404, "file_not_found"],
        [{ file: "../main.tsx" }, 404, "file_not_found"],
        [{ file: "notes.txt" }, 409, "not_code"],
        [{ branch: "none" }, 404, "branch_not_found"],
        [{ branch: "main", version: 9 }, 404, "version_not_found"],
        [{ file: "lib/a.ts", version: 1 }, 404, "file_not_found"],
        [{ file: "" }, 400, "invalid_request"],
      ]
      for (const [body, status, code] of refused) {
        const found = await server.call("POST", `/v1/vals/${val.id}/runs`, { as: server.ada, body })
        expect([body, found.status, found.json.code]).toEqual([body, status, code])
      }
    },
    msMax,
  )
})
