import type { PackageCase } from "../package-case.ts"

/** Packages together, as vals use them. */
export const withoutNative: readonly PackageCase[] = [
  {
    code: `import { zValidator } from "npm:@hono/zod-validator@0.9.1"
import { Hono } from "npm:hono@4.13.17"
import { SignJWT, jwtVerify } from "npm:jose@6.2.17"
import { z } from "npm:zod@4.6.7"
export default async () => {
  const key = new TextEncoder().encode("k".repeat(32))
  const app = new Hono().get("/", zValidator("query", z.object({ n: z.coerce.number() })), async (c) => c.json(c.req.valid("query")))
  const token = await new SignJWT({ a: 1 }).setProtectedHeader({ alg: "HS256" }).sign(key)
  return [await (await app.request("/?n=3")).json(), (await app.request("/")).status, (await jwtVerify(token, key)).payload]
}`,
    returns: [{ n: 3 }, 400, { a: 1 }],
  },
  {
    code: `import { clsx } from "npm:clsx@2.1.1"
import { createElement } from "npm:react@19.3.1"
import { renderToString } from "npm:react-dom@19.3.1/server"
import { twMerge } from "npm:tailwind-merge@3.7.0"
export default () => renderToString(createElement("b", { className: twMerge(clsx("p-1", { "p-2": true })) }, "hi"))`,
    returns: '<b class="p-2">hi</b>',
  },
  {
    code: `import { h } from "npm:preact@10.27.2"
import render from "npm:preact-render-to-string@6.6.3"
import { marked } from "npm:marked@18.2.0"
import sanitize from "npm:sanitize-html@2.18.1"
export default () => render(h("p", { dangerouslySetInnerHTML: { __html: sanitize(marked.parseInline("*a* <script>b</script>")) } }))`,
    returns: "<p><em>a</em> </p>",
  },
  {
    code: `import rehypeStringify from "npm:rehype-stringify@10.0.1"
import remarkGfm from "npm:remark-gfm@4.0.1"
import remarkParse from "npm:remark-parse@11.0.0"
import remarkRehype from "npm:remark-rehype@11.1.2"
import { unified } from "npm:unified@11.0.5"
export default async () => String(await unified().use(remarkParse).use(remarkGfm).use(remarkRehype).use(rehypeStringify).process("~a~"))`,
    returns: "<p><del>a</del></p>",
  },
  {
    code: `import * as cheerio from "npm:cheerio@1.2.0"
import { parse } from "npm:csv-parse@7.0.3/sync"
import { XMLParser } from "npm:fast-xml-parser@5.12.0"
import Papa from "npm:papaparse@5.7.0"
import YAML from "npm:yaml@2.9.1"
export default () => [cheerio.load("<p>a")("p").text(), parse("a,b"), new XMLParser().parse("<a>1</a>"), Papa.parse("a,b").data, YAML.parse("a: [1]")]`,
    returns: ["a", [["a", "b"]], { a: 1 }, [["a", "b"]], { a: [1] }],
  },
  {
    code: `import { Cron } from "npm:croner@11.0.0"
import { addDays, formatISO } from "npm:date-fns@4.4.0"
import dayjs from "npm:dayjs@1.11.23"
import { DateTime } from "npm:luxon@3.7.2"
import ms from "npm:ms@2.1.3"
export default () => [formatISO(addDays(new Date(2025, 0, 31), 1), { representation: "date" }), dayjs("2025-01-02").add(1, "month").format("YYYY-MM-DD"), DateTime.fromISO("2025-01-02").weekday, ms(ms("1h")), typeof new Cron("* * * * *").nextRun()]`,
    returns: ["2025-02-01", "2025-02-02", 4, "1h", "object"],
  },
  {
    code: `import { produce } from "npm:immer@11.2.10"
import { chunk } from "npm:lodash-es@4.18.1"
import pLimit from "npm:p-limit@7.3.3"
import { from, lastValueFrom, map, toArray } from "npm:rxjs@7.8.2"
export default async () => {
  const limit = pLimit(1)
  return [produce({ a: 1 }, (draft) => { draft.a = 2 }), chunk([1, 2, 3], 2), await Promise.all([1, 2].map((n) => limit(async () => n))), await lastValueFrom(from([1, 2]).pipe(map((n) => n * 2), toArray()))]
}`,
    returns: [{ a: 2 }, [[1, 2], [3]], [1, 2], [2, 4]],
  },
  {
    code: `import axios from "npm:axios@1.21.1"
import got from "npm:got@16.1.0"
import ky from "npm:ky@2.1.0"
import { request } from "npm:undici@8.12.4"
export default async ({ http }) => [(await axios(http)).status, (await got(http)).statusCode, (await ky(http)).status, (await request(http)).statusCode]`,
    returns: [200, 200, 200, 200],
  },
  {
    code: `import { encode } from "npm:gpt-tokenizer@4.0.0"
import OpenAI from "npm:openai@7.53.0"
import { zodResponseFormat } from "npm:openai@7.53.0/helpers/zod"
import { z } from "npm:zod@4.6.7"
export default () => [typeof new OpenAI({ apiKey: "a" }).chat.completions.create, zodResponseFormat(z.object({ a: z.string() }), "it").json_schema.name, encode("hello").length]`,
    returns: ["function", "it", 1],
  },
  {
    code: `import { Octokit } from "npm:@octokit/rest@22.0.1"
import { Resend } from "npm:resend@6.37.0"
import Stripe from "npm:stripe@23.1.0"
import twilio from "npm:twilio@6.2.0"
export default () => [typeof new Octokit().rest.repos.get, typeof new Resend("a").emails.send, typeof new Stripe("a").customers.create, typeof twilio.validateRequest]`,
    returns: ["function", "function", "function", "function"],
  },
  {
    code: `import { tool } from "npm:ai@7.0.169"
import { createOpenAI } from "npm:@ai-sdk/openai@4.0.114"
import { z } from "npm:zod@4.6.7"
export default () => [typeof createOpenAI({ apiKey: "a" })("m").doGenerate, tool({ description: "a", inputSchema: z.object({}) }).description]`,
    returns: ["function", "a"],
  },
  {
    code: `import { createSchema, createYoga } from "npm:graphql-yoga@5.24.1"
import { parse } from "npm:graphql@16.12.0"
import DataLoader from "npm:dataloader@2.2.3"
export default async () => {
  const loader = new DataLoader(async (keys) => keys.map((key) => key * 2))
  const yoga = createYoga({ schema: createSchema({ typeDefs: "type Query { n: Int }", resolvers: { Query: { n: () => loader.load(21) } } }) })
  return [await (await yoga.fetch("http://a/graphql?query={n}")).json(), parse("{ n }").definitions.length]
}`,
    returns: [{ data: { n: 42 } }, 1],
  },
  {
    code: `import { PDFDocument } from "npm:pdf-lib@1.17.1"
import QRCode from "npm:qrcode@1.5.4"
import JSZip from "npm:jszip@3.10.2"
export default async () => {
  const pdf = await PDFDocument.create()
  pdf.addPage().drawImage(await pdf.embedPng(await QRCode.toBuffer("a")))
  const zip = new JSZip().file("a.pdf", await pdf.save())
  return Object.keys((await JSZip.loadAsync(await zip.generateAsync({ type: "uint8array" }))).files)
}`,
    returns: ["a.pdf"],
  },
  {
    code: `import debug from "npm:debug@4.4.3"
import pino from "npm:pino@10.4.0"
import pretty from "npm:pino-pretty@13.2.0"
import winston from "npm:winston@3.19.0"
export default async () => {
  const destination = Deno.makeTempDirSync() + "/log"
  const transport = pino.transport({ target: "pino/file", options: { destination } })
  const logger = pino({ base: null, timestamp: false }, transport)
  logger.info("hi")
  await new Promise((resolve) => logger.flush(resolve))
  const line = JSON.parse(Deno.readTextFileSync(destination))
  return [line, pretty.prettyFactory({ colorize: false })(line).trim(), debug("a").namespace, winston.config.npm.levels.warn]
}`,
    returns: [{ level: 30, msg: "hi" }, "INFO: hi", "a", 1],
    isInTests: true,
  },
  {
    code: `import { evaluate } from "npm:mathjs@15.2.0"
import workerpool from "npm:workerpool@10.0.3"
import semver from "npm:semver@7.8.6"
export default async () => {
  const pool = workerpool.pool()
  try {
    return [await pool.exec((a, b) => a + b, [1, evaluate("1 + 1")]), semver.gt("2.0.0", "1.0.0")]
  } finally {
    await pool.terminate()
  }
}`,
    returns: [3, true],
    isInTests: true,
  },
  {
    code: `import createDOMPurify from "npm:dompurify@3.4.17"
import { JSDOM } from "npm:jsdom@26.1.0"
import TurndownService from "npm:turndown@7.2.5"
export default () => {
  const { window } = new JSDOM("")
  return new TurndownService().turndown(createDOMPurify(window).sanitize("<b onclick='a()'>hi</b>"))
}`,
    returns: "**hi**",
  },
  {
    code: `import handlebars from "npm:handlebars@4.7.10"
import mjml2html from "npm:mjml@5.4.1"
import nodemailer from "npm:nodemailer@10.4.0"
export default async () => {
  const page = handlebars.compile("<mjml><mj-body><mj-section><mj-column><mj-text>Hi {{name}}</mj-text></mj-column></mj-section></mj-body></mjml>")
  const { html } = await mjml2html(page({ name: "Ada" }))
  const { message } = await nodemailer.createTransport({ jsonTransport: true }).sendMail({ to: "a@example.com", html })
  return JSON.parse(message).html.includes("Hi Ada")
}`,
    returns: true,
    isInTests: true,
  },
]
