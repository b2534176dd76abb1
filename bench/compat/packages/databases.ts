import type { PackageCase } from "../package-case.ts"

/** Clients of databases and query builders. */
export const databases: readonly PackageCase[] = [
  {
    code: `import pg from "npm:pg@8.23.1"
export default async ({ postgres }) => {
  const client = new pg.Client({ connectionString: postgres })
  await client.connect()
  const { rows } = await client.query("select $1::int + 1 as n, now() is not null as t", [1])
  await client.end()
  return rows
}`,
    returns: [{ n: 2, t: true }],
    needs: ["postgres"],
    isInTests: true,
  },
  {
    code: `import postgres from "npm:postgres@3.4.9"
export default async ({ postgres: url }) => {
  const sql = postgres(url, { max: 2 })
  const rows = await sql\`select \${[1, 2]}::int[] as list\`
  await sql.end()
  return rows[0].list
}`,
    returns: [1, 2],
    needs: ["postgres"],
    isInTests: true,
  },
  {
    code: `import mysql from "npm:mysql2@3.24.5/promise"
export default async ({ mariadb }) => {
  const connection = await mysql.createConnection(mariadb)
  const [rows] = await connection.execute("select ? + 1 as n", [1])
  await connection.end()
  return rows.map(({ n }) => Number(n))
}`,
    returns: [2],
    needs: ["mariadb"],
  },
  {
    code: `import { createClient } from "npm:redis@6.3.1"
export default async ({ redis }) => {
  const client = await createClient({ url: redis }).connect()
  await client.set("compat:redis", "1", { EX: 10 })
  const value = await client.get("compat:redis")
  await client.close()
  return value
}`,
    returns: "1",
    needs: ["redis"],
  },
  {
    code: `import Redis from "npm:ioredis@6.0.0"
export default async ({ redis }) => {
  const client = new Redis(redis)
  const results = await client.pipeline().set("compat:io", "2").incr("compat:io").exec()
  await client.quit()
  return results.map(([, value]) => value)
}`,
    returns: ["OK", 3],
    needs: ["redis"],
  },
  {
    code: `import { BSON, ObjectId } from "npm:mongodb@7.8.0"
export default () => {
  const { id, n } = BSON.deserialize(BSON.serialize({ id: new ObjectId("0123456789abcdef01234567"), n: 1 }))
  return [id.toHexString(), n]
}`,
    returns: ["0123456789abcdef01234567", 1],
  },
  {
    code: `import { MongoClient } from "npm:mongodb@7.8.0"
export default async ({ tcp: [host, port] }) => {
  // The server sends back what it receives, which is not the protocol of MongoDB.
  const client = new MongoClient("mongodb://" + host + ":" + port, { serverSelectionTimeoutMS: 500 })
  try { await client.db("x").command({ ping: 1 }) } catch (error) { return error.name } finally { await client.close() }
}`,
    returns: "MongoServerSelectionError",
  },
  {
    code: `import mongoose from "npm:mongoose@9.12.0"
const Play = mongoose.model("Play", new mongoose.Schema({ title: { type: String, required: true }, acts: Number }))
export default () => [new Play({ title: "Hamlet", acts: "5" }).acts, Object.keys(new Play({}).validateSync().errors)]`,
    returns: [5, ["title"]],
  },
  {
    code: `import { drizzle } from "npm:drizzle-orm@0.45.4/node-postgres"
import { integer, pgTable, text } from "npm:drizzle-orm@0.45.4/pg-core"
import { eq, sql } from "npm:drizzle-orm@0.45.4"
import pg from "npm:pg@8.23.1"
const plays = pgTable("compat_drizzle", { id: integer("id"), title: text("title") })
export default async ({ postgres }) => {
  const client = new pg.Client(postgres)
  await client.connect()
  const db = drizzle(client)
  await db.execute(sql\`create temporary table compat_drizzle (id int, title text)\`)
  await db.insert(plays).values({ id: 1, title: "Hamlet" })
  const rows = await db.select().from(plays).where(eq(plays.id, 1))
  await client.end()
  return rows
}`,
    returns: [{ id: 1, title: "Hamlet" }],
    needs: ["postgres"],
  },
  {
    code: `import { Kysely, PostgresDialect, sql } from "npm:kysely@0.29.8"
import pg from "npm:pg@8.23.1"
export default async ({ postgres }) => {
  const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: postgres }) }) })
  const rows = await db.selectNoFrom(sql\`1 + 1\`.as("n")).execute()
  await db.destroy()
  return rows
}`,
    returns: [{ n: 2 }],
    needs: ["postgres"],
  },
  {
    code: `import knex from "npm:knex@3.3.0"
import "npm:pg@8.23.1"
export default async ({ postgres }) => {
  const db = knex({ client: "pg", connection: postgres })
  const { rows } = await db.raw("select ?::int as n", [1])
  await db.destroy()
  return rows
}`,
    returns: [{ n: 1 }],
    needs: ["postgres"],
  },
  {
    code: `import { DataTypes, Sequelize } from "npm:sequelize@6.37.8"
import pg from "npm:pg@8.23.1"
export default async ({ postgres }) => {
  const db = new Sequelize(postgres, { dialectModule: pg, logging: false })
  const Play = db.define("CompatPlay", { title: DataTypes.STRING }, { timestamps: false })
  await Play.sync({ force: true })
  await Play.create({ title: "Hamlet" })
  const found = await Play.findAll({ attributes: ["title"], raw: true })
  await Play.drop()
  await db.close()
  return found
}`,
    returns: [{ title: "Hamlet" }],
    needs: ["postgres"],
  },
  {
    code: `import { DataSource, EntitySchema } from "npm:typeorm@1.1.1"
import pg from "npm:pg@8.23.1"
const Play = new EntitySchema({ name: "compat_typeorm", columns: { id: { type: "int", primary: true }, title: { type: "text" } } })
export default async ({ postgres }) => {
  const db = await new DataSource({ type: "postgres", driver: pg, url: postgres, entities: [Play], synchronize: true }).initialize()
  await db.getRepository(Play).save({ id: 1, title: "Hamlet" })
  const found = await db.getRepository(Play).findOneBy({ id: 1 })
  await db.dropDatabase()
  await db.destroy()
  return found
}`,
    returns: { id: 1, title: "Hamlet" },
    needs: ["postgres"],
  },
  {
    code: `import { createClient } from "npm:@libsql/client@0.18.0/web"
export default async ({ http }) => {
  const client = createClient({ url: http + "/libsql" })
  // The server is not one of libSQL: the client must say what it could not read.
  return client.execute("select 1").then(() => "done", (error) => error.name)
}`,
    returns: /Error$/,
  },
  {
    code: `import initSqlJs from "npm:sql.js@1.15.2"
export default async () => {
  const SQL = await initSqlJs()
  const db = new SQL.Database()
  db.run("create table t (n); insert into t values (1), (2)")
  return db.exec("select sum(n) from t")[0].values
}`,
    returns: [[3]],
    isInTests: true,
  },
  {
    code: `import Database from "npm:better-sqlite3@13.0.3"
export default () => new Database(":memory:").prepare("select 1 as n").get()`,
    returns: { n: 1 },
  },
  {
    code: `import { PGlite } from "npm:@electric-sql/pglite@0.5.16"
export default async () => (await new PGlite().query("select 1 as n")).rows`,
    returns: [{ n: 1 }],
  },
  {
    code: `import { createClient } from "npm:@supabase/supabase-js@2.119.0"
export default async ({ http }) => {
  const supabase = createClient(http, "key")
  const { data } = await supabase.from("plays").select("title").eq("id", 1)
  return [data.path, data.query, data.headers.apikey]
}`,
    returns: ["/rest/v1/plays", { select: "title", id: "eq.1" }, "key"],
  },
]
