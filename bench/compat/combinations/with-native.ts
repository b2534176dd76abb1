import type { PackageCase } from "../package-case.ts"

/** A package that plain Deno loads and a val refuses: it must not harm the others. */
const isNative = `const isNative = (load) => load().then(() => true, ({ message }) => /native addon/.test(message) || message)`

/**
 * Packages together, among them some with native parts: addons that are optional, packages for other
 * platforms, and packages that vals cannot load.
 */
export const withNative: readonly PackageCase[] = [
  {
    code: `import { createClient } from "npm:@libsql/client@0.18.0/web"
import ms from "npm:ms@2.1.3"
export default () => [createClient({ url: "https://db.example" }).protocol, ms("2 days")]`,
    returns: ["http", 172_800_000],
    isInTests: true,
  },
  {
    code: `import * as Sentry from "npm:@sentry/node@11.11.0"
import ms from "npm:ms@2.1.3"
export default () => [typeof Sentry.captureException, ms("1s")]`,
    returns: ["function", 1_000],
  },
  {
    code: `import * as sass from "npm:sass@1.108.1"
import postcss from "npm:postcss@8.5.32"
import ms from "npm:ms@2.1.3"
export default () => [postcss.parse(sass.compileString("a { b { c: d } }").css).nodes[0].selector, ms("1s")]`,
    returns: ["a b", 1_000],
  },
  {
    code: `import * as esbuild from "npm:esbuild@0.28.2"
import ms from "npm:ms@2.1.3"
import { nanoid } from "npm:nanoid@6.0.2"
export default async () => {
  const started = await esbuild.transform("let a: 1", { loader: "ts" }).then(() => true, ({ message }) => /cannot start programs/.test(message) || message)
  return [started, ms("1s"), nanoid().length]
}`,
    returns: [true, 1_000, 21],
    isInTests: true,
  },
  {
    code: `import ms from "npm:ms@2.1.3"
import { z } from "npm:zod@4.6.7"
${isNative}
export default async () => [await isNative(() => import("npm:sharp@0.35.5")), ms("1s"), z.number().parse(1)]`,
    returns: [true, 1_000, 1],
    isInTests: true,
  },
  {
    code: `import ms from "npm:ms@2.1.3"
import MagicString from "npm:magic-string@1.4.5"
${isNative}
export default async () => [await isNative(() => import("npm:rollup@4.52.0")), ms("1s"), new MagicString("a").append("b").toString()]`,
    returns: [true, 1_000, "ab"],
  },
  {
    code: `import { decode, encode } from "npm:cbor-x@1.6.8"
import { decode as unpack, encode as pack } from "npm:@msgpack/msgpack@3.1.2"
import ms from "npm:ms@2.1.3"
export default () => [decode(encode({ a: 1 })), unpack(pack([1, "b"])), ms("1s")]`,
    returns: [{ a: 1 }, [1, "b"], 1_000],
    isInTests: true,
  },
  {
    code: `import bcrypt from "npm:bcryptjs@3.0.3"
import jwt from "npm:jsonwebtoken@9.0.3"
${isNative}
export default async () => [await isNative(() => import("npm:bcrypt@6.0.0")), bcrypt.compareSync("a", bcrypt.hashSync("a", 4)), jwt.verify(jwt.sign({ a: 1 }, "s"), "s").a]`,
    returns: [true, true, 1],
  },
  {
    code: `import { Kysely, DummyDriver, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "npm:kysely@0.29.8"
import initSqlJs from "npm:sql.js@1.15.2"
${isNative}
export default async () => {
  const dialect = { createAdapter: () => new SqliteAdapter(), createDriver: () => new DummyDriver(), createIntrospector: (db) => new SqliteIntrospector(db), createQueryCompiler: () => new SqliteQueryCompiler() }
  const { sql } = new Kysely({ dialect }).selectNoFrom((eb) => eb.val(42).as("n")).compile()
  const db = new (await initSqlJs()).Database()
  return [await isNative(() => import("npm:better-sqlite3@13.0.3")), db.exec(sql, [42])[0].values]
}`,
    returns: [true, [[42]]],
  },
  {
    code: `import bufferutil from "npm:bufferutil@4.1.0"
import isValidUTF8 from "npm:utf-8-validate@6.0.6"
import WebSocket from "npm:ws@8.22.2"
export default async ({ ws }) => {
  const masked = Buffer.from([1, 2, 3, 4])
  bufferutil.unmask(masked, Buffer.from([1, 1, 1, 1]))
  const socket = new WebSocket(ws)
  const said = await new Promise((resolve, reject) => socket.on("open", () => socket.send("hi")).on("message", (data) => resolve(String(data))).on("error", reject))
  socket.close()
  return [[...masked], isValidUTF8(Buffer.from("é")), said]
}`,
    returns: [[0, 3, 2, 5], true, "echo hi"],
    isInTests: true,
  },
  {
    code: `import autoprefixer from "npm:autoprefixer@10.6.2"
import postcss from "npm:postcss@8.5.32"
${isNative}
export default async () => [await isNative(() => import("npm:lightningcss@1.33.0")), postcss([autoprefixer({ overrideBrowserslist: "safari 9" })]).process("a { user-select: none }", { from: undefined }).css.includes("-webkit-user-select")]`,
    returns: [true, true],
  },
  {
    code: `import { parse } from "npm:acorn@8.19.0"
import { minify } from "npm:terser@5.51.2"
${isNative}
export default async () => [await isNative(() => import("npm:@swc/core@1.15.0")), parse("1 + 1", { ecmaVersion: 2024 }).body.length, (await minify("const a = 1 + 1; console.log(a)", { toplevel: true })).code]`,
    returns: [true, 1, "console.log(2);"],
  },
  {
    code: `import { PNG } from "npm:pngjs@7.0.0"
import QRCode from "npm:qrcode@1.5.4"
${isNative}
export default async () => [await isNative(() => import("npm:@napi-rs/canvas@0.1.80")), PNG.sync.read(await QRCode.toBuffer("a", { width: 50 })).width]`,
    returns: [true, 50],
  },
  {
    code: `import { strFromU8, strToU8, unzipSync, zipSync } from "npm:fflate@0.8.3"
import { optimize } from "npm:svgo@4.1.0"
${isNative}
export default async () => [await isNative(() => import("npm:@resvg/resvg-js@2.6.2")), strFromU8(unzipSync(zipSync({ a: strToU8("hi") })).a), optimize('<svg xmlns="http://www.w3.org/2000/svg"><!-- a --><g/></svg>').data.length < 60]`,
    returns: [true, "hi", true],
  },
  {
    code: `import { argon2id } from "npm:hash-wasm@4.13.0"
import { v4 } from "npm:uuid@14.0.3"
${isNative}
export default async () => [await isNative(() => import("npm:@node-rs/argon2@2.2.1")), (await argon2id({ password: "a", salt: "b".repeat(16), parallelism: 1, iterations: 1, memorySize: 64, hashLength: 16 })).length, v4().length]`,
    returns: [true, 32, 36],
  },
  {
    code: `import { createClient } from "npm:@libsql/client@0.18.0/web"
import { eq } from "npm:drizzle-orm@0.45.4"
import { drizzle } from "npm:drizzle-orm@0.45.4/libsql/web"
import { integer, sqliteTable, text } from "npm:drizzle-orm@0.45.4/sqlite-core"
import { z } from "npm:zod@4.6.7"
export default () => {
  const users = sqliteTable("users", { id: integer().primaryKey(), name: text() })
  const db = drizzle({ client: createClient({ url: "https://db.example" }) })
  return [db.select().from(users).where(eq(users.name, "Ada")).toSQL().params, z.string().parse("a")]
}`,
    returns: [["Ada"], "a"],
    isInTests: true,
  },
  {
    code: `import { Chalk } from "npm:chalk@6.0.1"
import ssh2 from "npm:ssh2@1.17.0"
import winston from "npm:winston@3.19.0"
export default () => [typeof new ssh2.Client().connect, winston.config.npm.levels.error, new Chalk({ level: 0 }).red("a"), ssh2.utils.generateKeyPairSync("ed25519").public.slice(0, 11)]`,
    returns: ["function", 0, "a", "ssh-ed25519"],
  },
  {
    code: `import { Kysely, PostgresDialect } from "npm:kysely@0.29.8"
import pg from "npm:pg@8.23.1"
import { z } from "npm:zod@4.6.7"
export default () => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool() }) })
  return [db.selectFrom("a").select("b").compile().sql, z.coerce.number().parse("1"), pg.escapeIdentifier("a")]
}`,
    returns: ['select "b" from "a"', 1, '"a"'],
  },
  {
    code: `import * as BSON from "npm:bson@7.0.0"
import { gunzipSync, gzipSync } from "npm:fflate@0.8.3"
${isNative}
export default async () => [await isNative(() => import("npm:snappy@7.4.3")), BSON.deserialize(gunzipSync(gzipSync(BSON.serialize({ a: 1 }))))]`,
    returns: [true, { a: 1 }],
  },
  {
    code: `import chokidar from "npm:chokidar@6.0.0"
import { glob } from "npm:glob@14.0.4"
${isNative}
export default async () => {
  const cwd = Deno.makeTempDirSync()
  Deno.writeTextFileSync(cwd + "/a.txt", "")
  return [await isNative(() => import("npm:@parcel/watcher@2.6.0")), typeof chokidar.watch, await glob("*.txt", { cwd })]
}`,
    returns: [true, "function", ["a.txt"]],
  },
  {
    code: `import * as Sentry from "npm:@sentry/node@11.11.0"
import { format } from "npm:date-fns@4.4.0"
import { Hono } from "npm:hono@4.13.17"
import lodash from "npm:lodash@4.18.1"
import ms from "npm:ms@2.1.3"
import { nanoid } from "npm:nanoid@6.0.2"
import pino from "npm:pino@10.4.0"
import { z } from "npm:zod@4.6.7"
export default async () => {
  const app = new Hono().get("/:n", (c) => c.json({ n: z.coerce.number().parse(c.req.param("n")), id: nanoid().length }))
  return [await (await app.request("/3")).json(), typeof Sentry.init, format(new Date(2025, 0, 2), "yyyy"), lodash.sum([1, 2]), ms("1s"), typeof pino().info]
}`,
    returns: [{ n: 3, id: 21 }, "function", "2025", 3, 1_000, "function"],
  },
  {
    code: `import Keyv from "npm:keyv@6.1.0"
import { LRUCache } from "npm:lru-cache@11.5.3"
${isNative}
export default async () => {
  const cache = new LRUCache({ max: 2 }), keyv = new Keyv()
  for (const key of ["a", "b", "c"]) cache.set(key, key)
  await keyv.set("a", 1)
  return [await isNative(() => import("npm:@node-rs/crc32@1.10.6")), cache.size, await keyv.get("a")]
}`,
    returns: [true, 2, 1],
  },
  {
    code: `import { parse } from "npm:acorn@8.19.0"
import MagicString from "npm:magic-string@1.4.5"
import { rollup } from "npm:@rollup/wasm-node@4.67.4"
export default async () => {
  const plugin = { name: "a", resolveId: (id) => id, load: (id) => id === "a" ? "export * from 'b'" : new MagicString("export const b = 1").toString() }
  const { output } = await (await rollup({ input: "a", plugins: [plugin] })).generate({ format: "es" })
  return parse(output[0].code, { ecmaVersion: 2024, sourceType: "module" }).body.length
}`,
    returns: 2,
    isInTests: true,
  },
]
